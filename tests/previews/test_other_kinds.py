"""What the smaller kinds show."""

from __future__ import annotations

import base64
import re
import struct

import pytest
from preview_examples import COLUMNS, EXAMPLES, TYPESCRIPT

from offloadkit.previews import Preview, preview
from offloadkit.tokens import token_counter

BYTES = token_counter("bytes")
CODE = {
    "Go": "package shop\n\nfunc (s *Store) save(id int) error {\n\tif id == 0 {\n\t\treturn err\n\t}\n}\n",
    "Rust": "use std::fs;\n\npub(crate) fn save(id: u32) -> Result<()> {\n    let x = 1;\n}\n",
    "Java, C# or Kotlin": (
        "import a.b;\n\npublic class Store {\n    private int save(int id) {\n        return id;\n    }\n}\n"
    ),
    "C or C++": "#include <stdio.h>\n\nstatic int save(int id)\n{\n    return id;\n}\n",
    "Ruby": "require 'set'\n\nclass Store\n  def save(id)\n    @ids << id\n  end\nend\n",
    "PHP": "<?php\nnamespace A;\n\nclass Store {\n  public function save($id) {\n    $this->n = 1;\n  }\n}\n",
    "Shell": "#!/bin/bash\nset -e\nsave() {\n  local id=$1\n  echo $id\n}\nfor x in a; do\n  echo $x\ndone\n",
}


def made(text: str, *, budget: int = 300, kind: str | None = None) -> Preview:
    return preview(text, budget=budget, counter=BYTES, kind=kind)


def lines(text: str, *, budget: int = 300) -> list[str]:
    return made(text, budget=budget).text.split("\n")


class TestText:
    def test_both_ends_and_the_number_of_lines_between(self) -> None:
        shown = made("".join(f"words of line {number}\n" for number in range(500)))

        found = re.fullmatch(r"first (\d+) and last (\d+) lines", shown.shown)
        assert found
        head, tail = int(found[1]), int(found[2])
        assert shown.text.split("\n")[head] == f"… {500 - head - tail} lines left out …"
        assert shown.next_call == f"offset={head + 1}"

    def test_one_long_line_is_shown_by_characters(self) -> None:
        text = "".join(f"word{number} " for number in range(2_000))
        shown = made(text)

        found = re.fullmatch(r"first (\d+) and last (\d+) characters", shown.shown)
        assert found
        head, gap, tail = shown.text.split("\n")
        assert text.startswith(head)
        assert text.endswith(tail)
        assert gap == f"… {len(text) - len(head) - len(tail)} characters left out …"
        assert shown.next_call == f"offset=1, column={len(head) + 1}"

    def test_the_column_counts_characters_of_the_stored_text(self) -> None:
        text = "\x1b[31mred\x1b[0m and \x00 " * 500
        shown = made(text)

        column = int(shown.next_call.partition("column=")[2])
        head = shown.text.split("\n")[0]
        assert head == (
            text[: column - 1].replace("\x1b[31m", "").replace("\x1b[0m", "").replace("\x00", "\\x00")
        )

    def test_a_line_that_is_much_longer_than_the_others_is_cut(self) -> None:
        text = "short line\n" * 200 + "x" * 9_000 + "\n" + "short line\n" * 3
        shown = made(text)

        assert re.search(r"x… \(\d+ more characters\)", shown.text)

    def test_what_fits_is_shown_whole(self) -> None:
        assert made("one line\nanother line\nthe third\n", kind="text") == Preview(
            "one line\nanother line\nthe third", "text", "all lines", ""
        )


class TestDelimited:
    def test_columns_have_types_and_ranges(self) -> None:
        assert lines(EXAMPLES["csv"])[:6] == [
            "400 rows of 4 columns separated by commas",
            "id: integer 0..399",
            'address: text 14..16 long, as "Street 0, Town"',
            "price: number 0..598.5",
            'sold: "yes" x266, "no" x134',
            "id,address,price,sold",
        ]

    def test_the_last_row_is_there(self) -> None:
        assert lines(EXAMPLES["csv"])[-1] == '399,"Street 399, Town",598.5,no'

    @pytest.mark.parametrize(("separator", "name"), [("\t", "tabs"), (";", "semicolons"), ("|", "bars")])
    def test_other_separators_are_recognised(self, separator: str, name: str) -> None:
        rows = [["name", "size", "kind"], *([f"n{number}", str(number), "big"] for number in range(300))]
        shown = made("".join(separator.join(row) + "\n" for row in rows))

        assert shown.kind == "csv"
        assert shown.text.startswith(f"300 rows of 3 columns separated by {name}\nname: text 2..4 long")

    def test_without_titles_columns_are_numbered(self) -> None:
        text = "".join(f"{number},{number * 2},{number * 3}\n" for number in range(300))

        assert lines(text)[:2] == ["300 rows of 3 columns separated by commas", "1: integer 0..299"]

    def test_empty_cells_are_counted(self) -> None:
        text = "name,size,note\n" + "".join(
            f"n{number},{number if number % 2 else ''},x\n" for number in range(300)
        )

        assert "size: integer 1..299, 150 empty" in lines(text)

    def test_line_feeds_in_quoted_cells_do_not_count_as_rows(self) -> None:
        text = "id,note,size\n" + "".join(f'{number},"first\nsecond",1\n' for number in range(300))

        assert lines(text)[0] == "300 rows of 3 columns separated by commas"

    @pytest.mark.parametrize(
        "text",
        [
            "One, two and three, he said.\n" * 100,
            "\tif (a, b) {\n\t\tcall(a, b);\n" * 100,
            "f(a, b, c);\ng(a, b, c);\n" * 100,
        ],
    )
    def test_prose_and_code_are_no_rows(self, text: str) -> None:
        assert made(text).kind != "csv"


class TestDiff:
    def test_files_have_their_added_and_removed_lines(self) -> None:
        shown = lines(EXAMPLES["diff"])

        assert shown[0] == "Diff of 12 files, +78 -12 lines"
        assert shown[1] == "src/shop/part_0.py +1 -1 (line 1)"
        assert shown[12] == "src/shop/part_11.py +12 -1 (line 155)"

    def test_when_not_all_files_fit_the_largest_are_listed(self) -> None:
        assert lines(EXAMPLES["diff"], budget=50)[1].startswith("src/shop/part_11.py +12 -1")

    def test_new_deleted_renamed_and_binary_files_are_marked(self) -> None:
        text = (
            "diff --git a/new.py b/new.py\nnew file mode 100644\n"
            "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x\n"
            "diff --git a/old.py b/old.py\ndeleted file mode 100644\n"
            "--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
            "diff --git a/a.py b/b.py\nsimilarity index 100%\nrename from a.py\nrename to b.py\n"
            "diff --git a/i.png b/i.png\nBinary files a/i.png and b/i.png differ\n"
        )

        assert lines(text)[1:5] == [
            "new.py +1 -0, new (line 1)",
            "old.py +0 -1, deleted (line 7)",
            "b.py +0 -0, renamed (line 13)",
            "i.png +0 -0, binary (line 17)",
        ]

    def test_content_that_looks_like_a_header_is_content(self) -> None:
        text = "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- old comment\n+++ new comment\n select 1;\n"

        assert lines(text)[:2] == ["Diff of 1 file, +1 -1 lines", "q.sql +1 -1 (line 1)"]


class TestHits:
    def test_hits_are_counted_by_file(self) -> None:
        assert lines(EXAMPLES["hits"])[:2] == ["200 hits in 9 files", "src/shop/module_0.py: 23"]

    def test_hits_of_many_files_are_shown(self) -> None:
        text = made(EXAMPLES["hits"]).text

        assert all(f"src/shop/module_{number}.py:" in text for number in range(9))

    def test_the_next_call_searches_the_file_with_most_hits(self) -> None:
        assert made(EXAMPLES["hits"]).next_call == 'search="src/shop/module_0.py"'

    def test_hits_below_their_file_are_counted(self) -> None:
        text = "".join(
            f"src/part_{number}.rs\n"
            + "".join(f"{line}:    let total = {line};\n" for line in (3, 9, 14))
            + "\n"
            for number in range(40)
        )

        assert lines(text)[0] == "120 hits in 40 files"

    @pytest.mark.parametrize(
        "message",
        ["src/a.ts({n},5): error TS2304: Cannot find name 'x'.", "src/a.py:{n}:5: E501 line too long"],
    )
    def test_messages_of_compilers_are_counted_by_code(self, message: str) -> None:
        text = "".join(message.replace("{n}", str(number)) + "\n" for number in range(1, 200))

        assert re.match(r"199 hits in 1 file: 199 (error TS2304|E501)\n", made(text).text)


class TestHtml:
    def test_title_headings_and_text_without_tags(self) -> None:
        text = made(EXAMPLES["html"]).text

        assert text.startswith(
            "HTML page: The old harbour, 61 headings\n3: The old harbour\n4:   Chapter 0\n"
        )
        assert "\nChapter 0 tells how the harbour was built, stone by stone." in text
        assert "never shown" not in text
        assert "color" not in text

    def test_tags_that_never_close_do_no_harm(self) -> None:
        assert made("<html><head><title>Open" + "<script>" * 50 + "<p>words " * 300).text.strip()


class TestMarkdown:
    def test_headings_have_line_numbers_and_levels(self) -> None:
        assert lines(EXAMPLES["markdown"])[:4] == [
            "Document of 354 lines, 51 headings:",
            "1: Handbook",
            "5:   Part 0",
            "12:   Part 1",
        ]

    def test_upper_levels_are_kept_when_not_all_fit(self) -> None:
        text = "".join(
            f"# Chapter {chapter}\n\n- words\n\n"
            + "".join(f"## Section {section}\n\n- words\n\n" for section in range(30))
            for chapter in range(6)
        )
        shown = made(text, budget=60).text

        assert all(f"Chapter {chapter}" in shown for chapter in range(6))

    def test_headings_in_code_fences_are_none(self) -> None:
        text = EXAMPLES["markdown"] + "```\n# no heading\n```\n"

        assert lines(text)[0].endswith("51 headings:")

    def test_underlined_headings_count(self) -> None:
        text = "".join(
            f"Topic {number}\n{'=' * 8}\n\nSome words about the topic.\n\n" for number in range(60)
        )

        assert lines(text)[:2] == ["Document of 300 lines, 60 headings:", "1: Topic 0"]

    def test_numbered_links_are_listed_as_search_results_are(self) -> None:
        results = "".join(
            f"{number}. [Result {number}](https://www.example.org/{number})\n\nSome words found there.\n\n"
            for number in range(1, 30)
        )
        shown = lines(f"A search for 'harbour' found 29 results:\n\n## Web results\n{results}")

        assert shown[1] == "3: Web results"
        assert shown[2] == "4:   1. Result 1 (www.example.org)"


class TestSource:
    def test_definitions_have_line_numbers_and_depth(self) -> None:
        shown = lines(EXAMPLES["source"])

        assert shown[:3] == [
            "Python source, 190 lines, 62 definitions:",
            "7: class Adder",
            "8:   def add_0(self, value: int) -> int",
        ]
        assert "189: def main() -> None" in shown

    def test_the_beginning_follows(self) -> None:
        assert "\nimport os\n" in made(EXAMPLES["source"]).text

    def test_typescript_is_outlined(self) -> None:
        assert lines(TYPESCRIPT)[:2] == [
            "JavaScript or TypeScript source, 302 lines, 60 definitions:",
            "3: export async function load0(id: string): Promise<Item>",
        ]

    @pytest.mark.parametrize(("name", "code"), CODE.items())
    def test_other_languages_are_outlined(self, name: str, code: str) -> None:
        shown = lines(code * 40, budget=3_000)

        assert shown[0].startswith(f"{name} source")
        assert any(re.match(r"\d+: .*save", line) for line in shown)

    def test_the_numbers_of_a_listing_are_named_and_left_out(self) -> None:
        code = EXAMPLES["source"].split("\n")
        text = "".join(f"{number:6}\t{line}\n" for number, line in enumerate(code, 301))
        shown = lines(text)

        assert shown[0] == "Python source, 191 lines, its own numbers from 301, 62 definitions:"
        assert shown[1] == "7: class Adder"


class TestTable:
    def test_rows_and_columns_are_counted(self) -> None:
        assert lines(EXAMPLES["table"])[:2] == ["Table of 120 rows, 3 columns:", "| name | amount | state |"]
        assert lines(EXAMPLES["table"])[-1] == "| row 119 | 357 | open |"

    def test_aligned_columns_keep_their_titles(self) -> None:
        assert lines(COLUMNS)[0] == "Table of 150 rows, 4 columns:"
        assert lines(COLUMNS)[1].split() == ["PID", "NAME", "CPU", "STATE"]


class TestListing:
    def test_paths_are_counted_by_type_and_folder(self) -> None:
        assert lines(EXAMPLES["listing"])[:2] == ["300 paths under packages/: 300 .ts", "part0/src: 50"]

    def test_names_under_their_folders_become_paths(self) -> None:
        text = "".join(
            f"./part{number}:\n" + "".join(f"file{name}.py\n" for name in range(10)) + "\n"
            for number in range(20)
        )
        shown = made(text)

        assert shown.kind == "listing"
        assert shown.text.startswith("200 paths: 200 .py\n")
        assert "part0/file0.py" in shown.text

    def test_the_next_call_begins_at_the_next_path(self) -> None:
        shown = made(EXAMPLES["listing"])

        named = shown.text.count(".ts\n") - 1
        assert shown.next_call == f"offset={named + 2}"


class TestAccessibility:
    def test_the_page_its_headings_and_its_controls(self) -> None:
        shown = lines(EXAMPLES["accessibility"])

        assert shown[0].startswith("Accessibility tree of Shop, focused: 60 link, 60 button, 60 text")
        assert shown[1:3] == ["3: heading Offers of today", '5: [500] button "Buy 0"']

    def test_the_main_part_comes_before_the_rest(self) -> None:
        menu = "".join(f"  button Menu {number}\n" for number in range(40))
        text = f"RootWebArea Page\n  banner\n{menu}  main\n    heading Results\n    button Next page\n"
        shown = made(text * 2, budget=60).text

        assert "button Next page" in shown


class TestBinary:
    def test_an_image_has_its_size(self) -> None:
        assert lines(EXAMPLES["binary"])[0] == "Base64 text of 9029 bytes, PNG image of 640x480 pixels"

    def test_the_dimensions_of_a_jpeg_are_found(self) -> None:
        noise = bytes(range(256)) * 8
        data = b"\xff\xd8\xff\xe0" + struct.pack(">H", 16) + b"JFIF\0" + bytes(9)
        data += b"\xff\xc0" + struct.pack(">HBHHB", 17, 8, 300, 400, 3) + noise

        assert "JPEG image of 400x300 pixels" in made(base64.b64encode(data).decode()).text

    def test_the_dimensions_of_a_gif_are_found(self) -> None:
        data = b"GIF89a" + struct.pack("<HH", 32, 16) + bytes(range(256)) * 8

        assert "GIF image of 32x16 pixels" in made(base64.b64encode(data).decode()).text

    @pytest.mark.parametrize(
        ("beginning", "name"),
        [
            (b"%PDF-1.7\n", "PDF"),
            (b"PK\x03\x04", "ZIP"),
            (b"\0\0\0\x20ftypisom", "MP4"),
            (b"RIFF\0\0\0\0WEBPVP8 ", "WebP"),
        ],
    )
    def test_types_are_told_by_the_first_bytes(self, beginning: bytes, name: str) -> None:
        data = base64.b64encode(beginning + bytes(range(256)) * 8).decode()

        assert name in lines(data)[0]

    def test_words_before_the_data_are_kept(self) -> None:
        shown = lines(f"[Binary file: photo.png (image/png)]\nBase64: {EXAMPLES['binary']}")

        assert shown[0].startswith("Base64 text of 9029 bytes, PNG image")
        assert shown[1] == "[Binary file: photo.png (image/png)] Base64:"

    def test_data_in_lines_is_data_too(self) -> None:
        data = EXAMPLES["binary"]
        text = "\n".join(data[start : start + 76] for start in range(0, len(data), 76))

        assert made(text).kind == "binary"

    def test_bytes_that_were_decoded_as_text_are_named(self) -> None:
        text = "\x7fELF\x02\x01\x01\x00" + "\x00\x01\x02code\x03\x04\ufffd" * 400

        assert lines(text)[0] == "Binary data as text, 4008 characters, ELF program"

    @pytest.mark.parametrize("text", ["x" * 4_000, "deadbeef" * 500, "AbCd" * 1_000])
    def test_long_words_are_no_data(self, text: str) -> None:
        assert made(text).kind == "text"


class TestPrinted:
    def test_the_text_inside_is_shown_without_escapes(self) -> None:
        shown = made(EXAMPLES["printed"])

        assert shown.text.startswith(
            "MCP result printed by Python, isError=False, text of 3330 characters:\nTrain 0: 6:00"
        )
        assert shown.shown.endswith("lines of the text inside")

    def test_the_text_inside_is_shown_as_what_it_is(self) -> None:
        text = f"meta=None content=[TextContent(type='text', text={EXAMPLES['json']!r})] isError=True"

        assert "JSON: object of 2 keys" in made(text).text

    def test_what_is_inside_has_no_line_numbers(self) -> None:
        text = f"[TextContent(type='text', text={EXAMPLES['markdown']!r})]"

        assert "\nHandbook\n" in made(text).text
