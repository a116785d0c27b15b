"""The contract holds on whole recorded sessions."""

from __future__ import annotations

from pathlib import Path

from formats.contract_runs import contract_tests, run_contract
from formats.wire import load

from offloadkit.formats import detect


def test_a_real_transcript_is_recognised_and_keeps_the_contract(transcript_path: Path) -> None:
    messages = load(transcript_path)["messages"]
    message_format = detect(messages)

    assert message_format.name == "openai-chat"
    for name in contract_tests():
        run_contract(name, message_format, messages)
