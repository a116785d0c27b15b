"""The command line: what it prints, where, with which exit code; and that bad input leaves nothing behind."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from histories import session

from offloadkit import Offloader, Policy
from offloadkit.cli import main

TIGHT = [
    *("--set", "offloading_token_limit=600", "--set", "clearing_token_threshold=800"),
    *("--set", "keep_recent_tokens=600", "--set", "clear_at_least_tokens=300"),
]


@dataclass
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Result]


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the command in this process, with a store of its own."""
    monkeypatch.setenv("OFFLOADKIT_BACKEND", f"file://{tmp_path}/store?fsync=none")

    def run(*arguments: str, stdin: str = "") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as caught:
            main(list(arguments))
        captured = capsysbinary.readouterr()
        code = caught.value.code
        return Result(code if isinstance(code, int) else 0, captured.out.decode(), captured.err.decode())

    return run


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "session.json"
    path.write_text(json.dumps(session(8)), "utf-8")
    return path


def test_reduce_writes_the_transcript_and_prints_what_it_saves(
    run: Run, transcript: Path, tmp_path: Path
) -> None:
    result = run("reduce", str(transcript), "-o", str(tmp_path / "out.json"), *TIGHT)

    assert result.code == 0
    assert "0 results offloaded, 6 cleared over 8 model calls" in result.out
    for row in ("tokens of tool results", "tokens sent, all calls", "share read from the prompt cache"):
        assert row in result.out
    assert json.loads((tmp_path / "out.json").read_text())[2]["content"].startswith(
        "[Old tool result content cleared]"
    )


def test_reduce_without_a_file_writes_to_standard_output_and_reports_beside_it(
    run: Run, transcript: Path
) -> None:
    result = run("reduce", str(transcript), *TIGHT)

    assert len(result.json) == 17
    assert "tokens sent, all calls" in result.err


def test_reduce_as_json_reports_the_same_figures(run: Run, transcript: Path, tmp_path: Path) -> None:
    report = run("reduce", str(transcript), "-o", str(tmp_path / "out.json"), "--json", *TIGHT).json

    assert (report["offloaded"], report["cleared"], report["before"]["calls"]) == (0, 6, 8)
    assert report["after"]["tokens_sent"] < report["before"]["tokens_sent"]
    assert 0 < report["cache_share_after"] < 1


def test_restore_gives_back_the_transcript(run: Run, transcript: Path, tmp_path: Path) -> None:
    run("reduce", str(transcript), "-o", str(tmp_path / "out.json"), *TIGHT)

    restored = run("restore", str(tmp_path / "out.json"))

    assert restored.json == session(8)
    assert "6 results restored" in restored.err


def test_restore_refuses_when_a_reference_does_not_open(run: Run, transcript: Path, tmp_path: Path) -> None:
    run("reduce", str(transcript), "-o", str(tmp_path / "out.json"), *TIGHT)

    refused = run(
        "restore", str(tmp_path / "out.json"), "--session", "other", "-o", str(tmp_path / "again.json")
    )

    assert refused.code == 1
    assert "6 of the references do not open in session 'other'" in refused.err
    assert not (tmp_path / "again.json").exists()


def test_restore_can_leave_in_place_what_does_not_open(run: Run, transcript: Path, tmp_path: Path) -> None:
    run("reduce", str(transcript), "-o", str(tmp_path / "out.json"), *TIGHT)

    kept = run("restore", str(tmp_path / "out.json"), "--session", "other", "--keep-missing")

    assert (kept.code, kept.json) == (0, json.loads((tmp_path / "out.json").read_text()))


@pytest.mark.parametrize("shape", ["list", "object", "lines", "gz", "stdin", "one-line"])
def test_a_transcript_is_written_back_in_the_shape_in_which_it_came(
    run: Run, tmp_path: Path, shape: str
) -> None:
    messages = session(8)
    lines = "".join(json.dumps(message) + "\n" for message in messages)
    text = {
        "object": json.dumps({"model": "m", "messages": messages, "temperature": 0}),
        "lines": lines,
        "one-line": json.dumps(messages[0]),
    }.get(shape, json.dumps(messages))
    path = tmp_path / ("in.json.gz" if shape == "gz" else "in.json")
    path.write_bytes(gzip.compress(text.encode()) if shape == "gz" else text.encode())

    name, stdin = ("-", text) if shape == "stdin" else (str(path), "")
    reduced = run("reduce", name, *TIGHT, stdin=stdin).out
    restored = run("restore", "-", stdin=reduced).out

    normal = (
        [json.loads(line) for line in restored.splitlines()]
        if shape in {"lines", "one-line"}
        else json.loads(restored)
    )
    given = (
        [json.loads(line) for line in text.splitlines()]
        if shape in {"lines", "one-line"}
        else json.loads(text)
    )
    assert normal == given


def test_read_shows_a_page(run: Run, transcript: Path, tmp_path: Path) -> None:
    ref = _first_reference(run, transcript, tmp_path)

    assert "0: log log" in run("read", ref).out
    assert "0: log log" in run("read", ref, "--json").json["answer"]


def test_read_of_an_unknown_reference_fails(run: Run) -> None:
    result = run("read", "aaaaaaaaaaaaaaaa")

    assert (result.code, result.out) == (1, "")
    assert "session 'default' has no stored result 'aaaaaaaaaaaaaaaa'" in result.err


def test_ls_and_stats_count_what_is_stored(run: Run, transcript: Path, tmp_path: Path) -> None:
    ref = _first_reference(run, transcript, tmp_path)

    listed = run("ls", "--json").json
    stats = run("stats", "--json").json

    assert ref in [entry["ref"] for entry in listed]
    assert {entry["tool"] for entry in listed} == {"fetch"}
    assert (stats["results"], stats["sessions"][0]["session"]) == (6, "default")
    assert "6 results" in run("stats").out
    assert ref in run("ls").out


def test_rm_deletes_one_result_or_a_whole_session(run: Run, transcript: Path, tmp_path: Path) -> None:
    ref = _first_reference(run, transcript, tmp_path)

    assert "1 results deleted" in run("rm", ref, "--session", "default", "--yes").out
    assert run("rm", "--session", "default", "--yes", "--json").json["deleted"] == 5
    assert run("stats", "--json").json["results"] == 0


def test_rm_of_one_session_leaves_those_with_a_longer_name(
    run: Run, transcript: Path, tmp_path: Path
) -> None:
    for name in ("s", "s1", "s_", "%"):
        run("reduce", str(transcript), "-o", str(tmp_path / "out.json"), "--session", name, *TIGHT)

    run("rm", "--session", "s", "--yes")
    run("rm", "--session", "%", "--yes")

    assert sorted(entry["session"] for entry in run("stats", "--json").json["sessions"]) == ["s1", "s_"]


def test_rm_counts_what_was_there(run: Run, transcript: Path, tmp_path: Path) -> None:
    ref = _first_reference(run, transcript, tmp_path)

    report = run("rm", ref, "aaaaaaaaaaaaaaaa", "--session", "default", "--yes", "--json").json

    assert report["deleted"] == 1


def test_rm_asks_first(run: Run, transcript: Path, tmp_path: Path) -> None:
    _first_reference(run, transcript, tmp_path)

    assert run("rm", "--session", "default", stdin="n\n").code == 1
    assert run("stats", "--json").json["results"] == 6


def test_sweep_deletes_nothing_that_has_not_expired(run: Run, transcript: Path, tmp_path: Path) -> None:
    _first_reference(run, transcript, tmp_path)

    assert run("sweep", "--json").json == {"deleted": 0}


def test_backends_lists_the_built_in_ones(run: Run) -> None:
    found = {entry["scheme"]: entry for entry in run("backends", "--json").json}

    assert found["memory"]["status"] == found["file"]["status"] == "ok"
    assert "memory://" in run("backends").out


def test_backends_check_probes_a_store_and_leaves_nothing_behind(run: Run, tmp_path: Path) -> None:
    url = f"file://{tmp_path}/probe"

    assert run("backends", "check", url).code == 0
    assert run("stats", "--json", "--backend", url).json["results"] == 0


def test_demo_shows_an_offload_a_clear_and_a_read_back(run: Run) -> None:
    result = run("demo")

    assert result.code == 0
    for words in (
        "offloaded:",
        "cleared by now:",
        "read_offloaded(ref=",
        "equals the original, byte for byte",
    ):
        assert words in result.out


def test_demo_as_json_counts_what_happened(run: Run) -> None:
    report = run("demo", "--json").json

    assert min(report["counts"][name] for name in ("offloaded", "cleared", "read")) >= 2
    assert all(before > after for before, after in report["tokens"].values())


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "message"),
    [
        (["reduce", "/no/such/file"], "", 1, "/no/such/file cannot be read: No such file or directory"),
        (["reduce", "-"], "", 1, "- is empty"),
        (["reduce", "-"], "{not json", 1, "- is not JSON"),
        (["reduce", "-"], '{"role": "user", "content": "x"}\n{oops\n', 1, "line 2 is not JSON"),
        (["reduce", "-"], '{"a": 1}', 1, "is no transcript"),
        (["reduce", "-"], "5", 1, "is no transcript"),
        (["reduce", "-"], "[" * 200_000, 1, "nested too deeply"),
        (["reduce", "-"], "[1, 2]", 1, "message"),
        (["reduce", "-", "--format", "nosuch"], "[]", 2, "nosuch"),
        (["reduce", "-"], "[" + "9" * 5_000 + "]", 1, "a number that is too long"),
        (["reduce", "-", "--backend", ""], "[]", 2, "a backend URL looks like"),
        (["read", "aaaaaaaaaaaaaaaa", "--search", "a", "--regex", "b"], "", 2, "not both"),
        (["read", "aaaaaaaaaaaaaaaa", "--limit", "0"], "", 2, "limit"),
        (["reduce", "-", "--backend", "nosuch://x"], "[]", 2, "nosuch"),
        (["reduce", "-", "--backend", "file:///tmp/x?nosuch=1"], "[]", 2, "has no option 'nosuch'"),
        (["reduce", "-", "--backend", "no url"], "[]", 2, "a backend URL looks like"),
        (["reduce", "-", "--set", "nosuch=1"], "[]", 2, "--set takes FIELD=VALUE"),
        (["reduce", "-", "--set", "keep_recent_tokens=many"], "[]", 2, "takes a whole number"),
        (["reduce", "-", "--set", "token_counter=nosuch"], "[]", 2, "nosuch"),
        (["reduce"], "", 2, "Missing argument"),
        (["nosuch"], "", 2, "No such command"),
        (["rm"], "", 2, "--session NAME"),
        (["rm", "nonsense", "--session", "s"], "", 2, "is no reference"),
    ],
)
def test_bad_input_is_one_clear_line_and_an_exit_code(
    run: Run, arguments: list[str], stdin: str, code: int, message: str
) -> None:
    result = run(*arguments, stdin=stdin)

    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert "Traceback" not in result.err


def test_an_unwritable_store_fails_and_writes_no_transcript(
    run: Run, transcript: Path, tmp_path: Path
) -> None:
    (tmp_path / "blocked").write_text("a file, no folder")
    url = f"file://{tmp_path}/blocked"

    result = run("reduce", str(transcript), "-o", str(tmp_path / "out.json"), "--backend", url, *TIGHT)

    assert result.code == 1
    assert "nothing was written" in result.err
    assert not (tmp_path / "out.json").exists()


def test_a_link_is_written_through_and_the_mode_of_a_file_is_kept(
    run: Run, transcript: Path, tmp_path: Path
) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)

    run("reduce", str(transcript), "-o", str(link), *TIGHT)

    assert link.is_symlink()
    assert len(json.loads(real.read_text())) == 17
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_pipe_is_written_to(run: Run, transcript: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()

    run("reduce", str(transcript), "-o", str(pipe), *TIGHT)
    reader.join()

    assert len(json.loads(found[0])) == 17


def test_half_a_surrogate_pair_stays_the_escape_that_it_was(run: Run) -> None:
    messages = '[{"role": "user", "content": "\\ud800"}]'

    assert json.loads(run("reduce", "-", stdin=messages).out) == json.loads(messages)


def test_a_page_with_half_a_surrogate_pair_is_shown(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    path.write_text(json.dumps(session(8, "\ud800log " * 500)))
    ref = _first_reference(run, path, tmp_path)

    assert r"\ud800log" in run("read", ref).out
    assert r"\ud800log" in run("read", ref, "--json").out


def test_bytes_that_a_program_offloaded_are_refused_in_one_line(run: Run, tmp_path: Path) -> None:
    store = f"file://{tmp_path}/bytes"
    with Offloader(store, session="default", policy=Policy.frugal()) as offloader:
        shown = offloader.offload(b"\xff\x00" * 9_000, tool="t")
    text = json.dumps([{"role": "tool", "tool_call_id": "c", "content": shown}])

    result = run("restore", "-", "--backend", store, stdin=text)

    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)


def test_a_full_device_is_one_line(transcript: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "offloadkit",
        "reduce",
        str(transcript),
        "--backend",
        f"file://{tmp_path}/s",
    ]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    assert done.returncode == 1
    assert "standard output cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_store_that_ends_with_the_command_is_told(run: Run, transcript: Path) -> None:
    assert "ends with the command" in run("reduce", str(transcript), "--backend", "memory://", *TIGHT).err


def test_a_state_folder_that_cannot_be_made_is_one_line(
    run: Run, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OFFLOADKIT_BACKEND")
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null/x")

    result = run("ls")

    assert (result.code, result.err.count("\n")) == (1, 1)


def test_an_unwritable_output_is_one_line(run: Run, transcript: Path) -> None:
    result = run("reduce", str(transcript), "-o", "/no/such/folder/out.json", *TIGHT)

    assert (result.code, result.err.count("\n")) == (1, 1)


@pytest.mark.parametrize("arguments", [["--help"], ["reduce", "--help"], ["--version"]])
def test_help_is_there(run: Run, arguments: list[str]) -> None:
    assert run(*arguments).code == 0


def test_help_loads_neither_rich_nor_a_backend() -> None:
    code = (
        "import sys\nfrom offloadkit.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
        "names = ('rich', 're2', 'jmespath', 'offloadkit.offloader', 'importlib.metadata')\n"
        "print([name for name in names if name in sys.modules])"
    )

    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert out.endswith("[]\n")


def _first_reference(run: Run, transcript: Path, tmp_path: Path) -> str:
    run("reduce", str(transcript), "-o", str(tmp_path / "out.json"), *TIGHT)
    found = re.search(r"[a-z2-7]{16}", json.loads((tmp_path / "out.json").read_text())[2]["content"])
    assert found is not None
    return found[0]
