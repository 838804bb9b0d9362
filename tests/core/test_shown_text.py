"""What comes from a file reaches a terminal as text, in a length that a person reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wm_audit.core import AuditError
from wm_audit.core.errors import why
from wm_audit.core.shown_text import MOST, clipped, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [("plain ü 日本", "plain ü 日本"), ("\x1b[31mred\x07", "\\x1b[31mred\\x07"), ("a\nb\tc", "a\\nb\\tc"), ("\ud800", "\\ud800"), ("", "")],
)
def test_what_is_not_printed_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text(st.characters()))
def test_nothing_but_printed_characters_is_left(text: str) -> None:
    assert printable(text).isprintable()
    printable(text).encode("utf-8")


def test_a_long_text_keeps_both_ends_and_says_what_is_gone() -> None:
    assert clipped("a" * MOST) == "a" * MOST
    assert clipped("start" + "x" * 995 + "end!", 100) == "start" + "x" * 70 + " [904 characters left out] " + "x" * 21 + "end!"


def test_a_message_about_a_huge_cell_is_short_and_sends_no_escape_sequence() -> None:
    line = AuditError(f"holds {'9' * 100_000!r}", where="\x1b[2Jrows.csv line 2", expected="a number", fix="write one").line()
    assert len(line) < 2 * MOST
    assert line.startswith("\\x1b[2Jrows.csv line 2: holds '999")
    assert line.endswith("'; expected a number; fix: write one")


@pytest.mark.parametrize(
    ("error", "said"), [(OSError(28, "No space left on device"), "No space left on device"), (OSError("short write"), "short write")]
)
def test_a_system_failure_is_never_called_none(error: OSError, said: str) -> None:
    assert why(error) == said
    assert why(PermissionError()) == "PermissionError"
