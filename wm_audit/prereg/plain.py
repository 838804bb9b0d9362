"""YAML without indirection: nodes with their lines, composed without anchors, aliases, tags, directives or bottomless nesting."""

import yaml

from wm_audit.core import AuditError

DEEPEST = 20


def compose(text: str, *, where: str) -> yaml.Node | None:
    """The document's root node, or None where there is no document.

    Args:
        text: one YAML document.
        where: names it in messages.

    Raises:
        AuditError: it is not YAML, is more than one document, or holds what could mean something that does not stand there.
    """
    try:
        return yaml.compose(text, Loader=_Plain)
    except _IndirectionError as error:
        place = f"{where}, line {error.line}"
        raise AuditError(f"found {error.kind}", where=place, expected="plain YAML", fix=WRITE_OUT) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _not_yaml(where if mark is None else f"{where}, line {mark.line + 1}", error.problem or error.context or "") from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # a character, or the number of one, that does not exist
        raise _not_yaml(where, str(error)) from error


WRITE_OUT = "write the value itself at every place that needs it"


class _IndirectionError(Exception):
    """Something that stands for something else."""

    def __init__(self, kind: str, event: yaml.Event) -> None:
        super().__init__(kind)
        self.kind = kind
        self.line = 1 if event.start_mark is None else event.start_mark.line + 1


class _Plain(yaml.SafeLoader):
    """Refuses indirection before the composer resolves or recurses into it; constructs nothing."""

    _depth = 0

    def compose_document(self) -> yaml.Node | None:
        """A document without directives."""
        self._look()
        return super().compose_document()

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """A node that stands where it stands."""
        self._look()
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def _look(self) -> None:
        event: yaml.Event = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs leave it out
        kind = _indirection(event) or ("nesting deeper than 20 levels" if self._depth > DEEPEST else "")
        if kind:
            raise _IndirectionError(kind, event)


def _indirection(event: yaml.Event) -> str:
    if isinstance(event, yaml.AliasEvent):
        return f"the alias *{event.anchor}"
    if isinstance(event, yaml.DocumentStartEvent):
        return "a % directive" if event.version or event.tags else ""
    if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
        return f"the anchor &{event.anchor}" if event.anchor else f"the tag {event.tag}" if event.tag else ""
    return ""


def _not_yaml(place: str, problem: str) -> AuditError:
    return AuditError(f"is not YAML ({problem})", where=place, expected="one YAML document", fix="correct that line")
