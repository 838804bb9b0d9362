"""Tables and footnotes, as Markdown and as plain aligned text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any

from wm_audit.board.numbers import MISSING
from wm_audit.verdict.caveats import sentence

Line = Sequence[str]


@dataclass(slots=True)
class Notes:
    """Footnotes of one table: each sentence once, numbered in the order in which it is first needed."""

    sentences: list[str] = field(default_factory=list)

    def mark(self, sentence: str) -> str:
        """The number under which the sentence stands below the table."""
        if sentence not in self.sentences:
            self.sentences.append(sentence)
        return f"[{self.sentences.index(sentence) + 1}]"

    def missing(self, sentence: str) -> str:
        """A missing number with its footnote: a null is never 0 and never blank."""
        return f"{MISSING} {self.mark(sentence)}"

    def show(self, value: Any, form: Callable[[Any], str], why: str | None) -> str:
        """The value as `form` writes it, or the sign for a missing one with the footnote `why` (a sentence or a reason code)."""
        return self.missing(sentence(why or "not_measured")) if value is None else form(value)

    def markdown(self) -> list[str]:
        """The footnotes as a list, with a blank line before it."""
        return ["", *(f"- [{place}] {text}" for place, text in enumerate(self.sentences, 1))] if self.sentences else []

    def text(self, width: int, indent: str) -> list[str]:
        """The footnotes as plain lines."""
        lines = []
        for place, words in enumerate(self.sentences, 1):
            lines += fold(f"[{place}] {words}", width, indent, indent + "    ")
        return lines


def markdown_table(header: Line, lines: Sequence[Line], left: int = 1) -> list[str]:
    """A Markdown table whose source is aligned too; the first `left` columns are flush left, the others right."""
    cells = [[cell.replace("|", "\\|") for cell in line] for line in (header, *lines)]
    widths = [max(3, *(len(line[column]) for line in cells)) for column in range(len(header))]
    rule = ["-" * width if column < left else "-" * (width - 1) + ":" for column, width in enumerate(widths)]
    body = [_join(line, widths, left, " | ") for line in cells]
    return [f"| {body[0]} |", f"| {' | '.join(rule)} |", *(f"| {line} |" for line in body[1:])]


def text_table(header: Line, lines: Sequence[Line], left: int = 1, indent: str = "  ") -> list[str]:
    """A plain table, columns two spaces apart, without trailing blanks."""
    widths = [max(len(line[column]) for line in (header, *lines)) for column in range(len(header))]
    return [(indent + _join(line, widths, left, "  ")).rstrip() for line in (header, *lines)]


def fold(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Text broken into lines of at most `width`, words kept whole where they fit."""
    return wrap(text, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False) or [first.rstrip()]


def _join(line: Line, widths: Sequence[int], left: int, between: str) -> str:
    padded = [
        cell.ljust(width) if column < left else cell.rjust(width) for column, (cell, width) in enumerate(zip(line, widths, strict=True))
    ]
    return between.join(padded)
