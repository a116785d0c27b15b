"""One text of each kind, made here, large enough that no preview shows all of it."""

from __future__ import annotations

import base64
import json
import random
import struct


def _log() -> str:
    lines = []
    for number in range(600):
        level = "ERROR" if number in {120, 480} else "WARN" if number % 97 == 5 else "INFO"
        words = "payment refused by bank" if level == "ERROR" else f"order {number} packed in {number % 7} s"
        lines.append(f"2024-03-01 10:{number // 60:02d}:{number % 60:02d} {level} shop.orders {words}")
    return "\n".join([*lines, "2024-03-01 10:11:00 INFO shop shutting down"]) + "\n"


def _pytest_output() -> str:
    passed = [f"tests/test_area_{number}.py ......... [{number:3d}%]" for number in range(80)]
    return "\n".join(
        [
            "============================= test session starts ==============================",
            "platform linux -- Python 3.11.7, pytest-8.2.0, pluggy-1.5.0",
            "collected 722 items",
            *passed,
            "=================================== FAILURES ===================================",
            "_______________________________ test_total_is_sum ______________________________",
            "",
            "    def test_total_is_sum() -> None:",
            ">       assert total([1, 2, 3]) == 6",
            "E       assert 5 == 6",
            "",
            "tests/test_total.py:12: AssertionError",
            "=========================== short test summary info ============================",
            "FAILED tests/test_total.py::test_total_is_sum - assert 5 == 6",
            "======================== 1 failed, 721 passed in 12.31s ========================",
            "",
        ]
    )


def _traceback() -> str:
    progress = [f"step {number} done" for number in range(300)]
    frames = [
        f'  File "/srv/app/stage_{number}.py", line {number + 10}, in run\n    return next_stage(value)'
        for number in range(40)
    ]
    return "\n".join(
        [*progress, "Traceback (most recent call last):", *frames, "KeyError: 'customer_id'", ""]
    )


def _diff() -> str:
    parts = []
    for number in range(12):
        path = f"src/shop/part_{number}.py"
        added = "\n".join(f"+    value_{line} = {line}" for line in range(number + 1))
        parts.append(
            f"diff --git a/{path} b/{path}\nindex 1111..2222 100644\n--- a/{path}\n+++ b/{path}\n"
            f"@@ -10,3 +10,{number + 3} @@ part():\n     before = 1\n-    old = 2\n{added}\n     after = 3"
        )
    return "\n".join(parts) + "\n"


def _grep() -> str:
    return "".join(
        f"src/shop/module_{number % 9}.py:{number * 3 + 1}:    raise ShopError('case {number}')\n"
        for number in range(200)
    )


def _html() -> str:
    words = "tells how the harbour was built, stone by stone."
    sections = "".join(
        f"<h2>Chapter {number}</h2>\n<p>Chapter {number} {words}</p>\n" for number in range(60)
    )
    return (
        "<!DOCTYPE html>\n<html><head><title>The old harbour</title><style>p { color: red }</style></head>\n"
        f"<body><h1>The old harbour</h1>\n{sections}<script>alert('never shown')</script></body></html>\n"
    )


def _markdown() -> str:
    sections = "".join(
        f"## Part {number}\n\n- first point of part {number}\n- second point\n\nSome words about it.\n\n"
        for number in range(50)
    )
    return f"# Handbook\n\nHow the team works.\n\n{sections}"


def _source() -> str:
    methods = "".join(
        f"    def add_{number}(self, value: int) -> int:\n        return value + {number}\n\n"
        for number in range(60)
    )
    beginning = '"""A module."""\n\nimport os\nfrom typing import Any\n\n\nclass Adder:\n'
    return f"{beginning}{methods}\ndef main() -> None:\n    print(Adder())\n"


def _typescript() -> str:
    functions = "".join(
        f"export async function load{number}(id: string): Promise<Item> {{\n"
        f"  const found = await fetchItem(id, {number});\n  return found;\n}}\n\n"
        for number in range(60)
    )
    return f'import {{ Item }} from "./item.js";\n\n{functions}'


def _table() -> str:
    rows = "".join(f"| row {number} | {number * 3} | open |\n" for number in range(120))
    return f"| name | amount | state |\n|------|-------:|-------|\n{rows}"


def _columns() -> str:
    rows = "".join(
        f"{1000 + number:<8}worker-{number:<12}{number / 3:>8.1f}   running\n" for number in range(150)
    )
    return f"{'PID':<8}{'NAME':<19}{'CPU':>8}   STATE\n{rows}"


def _listing() -> str:
    return "".join(f"./packages/part{number % 6}/src/file{number}.ts\n" for number in range(300))


def _csv() -> str:
    rows = "".join(
        f'{number},"Street {number}, Town",{number * 1.5},{"yes" if number % 3 else "no"}\n'
        for number in range(400)
    )
    return f"id,address,price,sold\n{rows}"


def _png() -> str:
    header = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 640, 480, 8, 6, 0, 0, 0)
    return base64.b64encode(header + random.Random(1).randbytes(9_000)).decode()


def _accessibility() -> str:
    items = "".join(
        f'  [{number}] link "Offer {number}"\n  [{number + 500}] button "Buy {number}"\n    text\n'
        for number in range(60)
    )
    return f"RootWebArea Shop, focused\n  banner\n  heading Offers of today\n{items}  navigation Footer\n"


def _printed() -> str:
    inner = "".join(f"Train {number}: {6 + number % 12}:00 platform {number % 9}\n" for number in range(120))
    return f"meta=None content=[TextContent(type='text', text={inner!r}, annotations=None)] isError=False"


EXAMPLES: dict[str, str] = {
    "accessibility": _accessibility(),
    "binary": _png(),
    "csv": _csv(),
    "diff": _diff(),
    "hits": _grep(),
    "html": _html(),
    "json": json.dumps(
        {
            "total": 300,
            "items": [{"id": number, "name": f"item {number}", "price": number / 4} for number in range(300)],
        }
    ),
    "listing": _listing(),
    "log": _log(),
    "markdown": _markdown(),
    "printed": _printed(),
    "source": _source(),
    "table": _table(),
    "tests": _pytest_output(),
    "text": "It was a quiet evening in the village, and nobody spoke of the storm that had passed.\n" * 200,
    "traceback": _traceback(),
}
COLUMNS = _columns()
TYPESCRIPT = _typescript()
