"""Every YAML file of the project is read here: by a schema, without constructing objects, refusing whatever could mean two things.

Refused with file, line and field: duplicate keys (with both lines), anchors, aliases, merge keys, tags, directives, several documents,
unknown keys (with the nearest known one), and every scalar that is not plainly of the schema's type (`scalars`).
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Never

import yaml

from wm_audit.core import AuditError
from wm_audit.prereg.plain import WRITE_OUT, compose
from wm_audit.prereg.scalars import MisreadError, found, read_scalar
from wm_audit.prereg.schema import Fields, Items, Maybe, Named, Schema, Text, describe


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says: `value` in plain types, and for every field's path the line on which it stands (from 1)."""

    where: str
    value: dict[str, Any]
    lines: Mapping[str, int]

    def place(self, path: str) -> str:
        """File, line and field, for messages; a path the file does not hold is placed at its nearest ancestor."""
        known = path
        while known and known not in self.lines:
            known = known[: max(known.rfind("."), known.rfind("["), 0)]
        return _place(self.where, self.lines.get(known, 1), path)


def load(path: Path, schema: Fields) -> Document:
    """Reads a file.

    Raises:
        AuditError: it cannot be read, or does not hold what the schema says; one line with file, line, field, what was read, what to write.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise AuditError(f"cannot be read ({error.strerror})", where=str(path), expected="a readable file", fix="check the path") from error
    except UnicodeDecodeError as error:
        raise AuditError("is not UTF-8 text", where=str(path), expected="a YAML file", fix="save it as UTF-8") from error
    return loads(text, schema, where=str(path))


def loads(text: str, schema: Fields, *, where: str) -> Document:
    """Reads a text; `where` names it in messages.

    Raises:
        AuditError: as for `load`.
    """
    root = compose(text, where=where)
    if root is None:
        raise AuditError("is empty", where=where, expected=describe(schema), fix="fill it in")
    reader = _Reader(where)
    value = reader.read(root, schema, "")
    return Document(where, value, reader.lines)


def nearest(name: str, known: Mapping[str, Any] | tuple[str, ...] | list[str]) -> str:
    """`write NEAREST` for a name that is not known, or the list of all known ones where none is near."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"write {close[0]}" if close else "known are " + ", ".join(known)


def _place(where: str, line: int, path: str) -> str:
    return f"{where}, line {line}" + (f", field {path}" if path else "")


class _Reader:
    """Walks nodes and schema together, remembering the line of every path."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.lines: dict[str, int] = {}

    def read(self, node: yaml.Node, schema: Schema, path: str) -> Any:
        """The node's value.

        Raises:
            AuditError: it is not what the schema says.
        """
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(schema, Maybe):
            return None if _is_null(node) else self.read(node, schema.of, path)
        if isinstance(schema, Fields | Named):
            return self._map(node, schema, path)
        if isinstance(schema, Items):
            return self._items(node, schema, path)
        if not isinstance(node, yaml.ScalarNode):
            self._fail(node, path, f"found {_shape(node)}", describe(schema), "write one value")
        try:
            return read_scalar(node, schema)
        except MisreadError as error:
            self._fail(node, path, f"found {error.found}", error.expected, error.fix)

    def _map(self, node: yaml.Node, schema: Fields | Named, path: str) -> dict[str, Any]:
        if not isinstance(node, yaml.MappingNode):
            self._fail(node, path, f"found {_shape(node)}", describe(schema), "write one 'name: value' a line, indented below")
        entries = self._unique(node, path)
        if isinstance(schema, Named):
            if len(entries) < schema.at_least:
                self._fail(node, path, f"found {len(entries)} entries", f"at least {schema.at_least}", "add what is missing")
            for key, item in entries.items():
                if not re.fullmatch(schema.pattern, key):
                    self._fail(item, _join(path, key), f"found the name {key!r}", f"a name of the form {schema.pattern}", "rename it")
            return {key: self.read(item, schema.of, _join(path, key)) for key, item in entries.items()}
        for key, item in entries.items():
            if key not in schema.of:
                self._fail(item, _join(path, key), "is not known here", "a known field", nearest(key, schema.of))
        for key in schema.of:
            if key not in entries and key not in schema.optional:
                self._fail(node, path, f"the field {key} is missing", describe(schema.of[key]), f"add {key}:")
        return {key: self.read(entries[key], item, _join(path, key)) for key, item in schema.of.items() if key in entries}

    def _unique(self, node: yaml.MappingNode, path: str) -> dict[str, yaml.Node]:
        """The entries by name, each name a plain text that stands there once."""
        entries: dict[str, yaml.Node] = {}
        first: dict[str, int] = {}
        for key, item in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag.endswith(":merge") and key.style is None:
                self._fail(key, path, "found the merge key <<", "plain YAML", WRITE_OUT)
            if not isinstance(key, yaml.ScalarNode):
                self._fail(key, path, f"found {_shape(key)} as a name", "a text", "write a plain name")
            try:
                name = str(read_scalar(key, Text()))
            except MisreadError as error:
                self._fail(key, path, f"found the name {error.found}", error.expected, error.fix)
            line = key.start_mark.line + 1
            if name in entries:
                self._fail(
                    key, _join(path, name), f"stands twice, on lines {first[name]} and {line}", "every name once", "remove one of the two"
                )
            entries[name], first[name] = item, line
            self.lines[_join(path, name)] = line  # where a block below its name is looked for
        return entries

    def _items(self, node: yaml.Node, schema: Items, path: str) -> list[Any]:
        if not isinstance(node, yaml.SequenceNode):
            raw = node.value if isinstance(node, yaml.ScalarNode) and node.value.isprintable() else "..."
            self._fail(node, path, f"found {_shape(node)}", describe(schema), f"write [{raw}]" if raw else "write [] for an empty list")
        values = [self.read(item, schema.of, f"{path}[{index}]") for index, item in enumerate(node.value)]
        if len(values) < schema.at_least or (schema.at_most is not None and len(values) > schema.at_most):
            bounds = f"at least {schema.at_least}" + ("" if schema.at_most is None else f" and at most {schema.at_most}")
            self._fail(node, path, f"found {len(values)} items", f"{bounds} items", "correct the list")
        for index, value in enumerate(values):
            if schema.distinct and value in values[:index]:
                self._fail(
                    node.value[index], f"{path}[{index}]", f"found {value!r} a second time", "every item once", "remove one of the two"
                )
        return values

    def _fail(self, node: yaml.Node, path: str, what: str, expected: str, fix: str) -> Never:
        own = node.start_mark.line + 1
        line = self.lines.get(path, own) if isinstance(node, yaml.CollectionNode) else own
        raise AuditError(what, where=_place(self.where, line, path), expected=expected, fix=fix)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.style is None and node.value == "null"


def _shape(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return found(node)
    return "a list" if isinstance(node, yaml.SequenceNode) else "a map"
