"""Text from files and people, made fit for one line of a terminal."""

MOST = 400
"""Characters of one part of a message; a cell of a megabyte is not repeated back."""


def printable(text: str) -> str:
    """The text with every character that is not printed (escape sequences, line breaks, half surrogates) written as its escape."""
    return text if text.isprintable() else "".join(item if item.isprintable() else _escape(item) for item in text)


def clipped(text: str, most: int = MOST) -> str:
    """A text of at most `most` characters and a note: its beginning, how much is left out, and its end."""
    if len(text) <= most:
        return text
    end = most // 4
    return f"{text[: most - end]} [{len(text) - most} characters left out] {text[-end:]}"


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
