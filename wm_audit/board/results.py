"""The results file: built in one fixed order, sealed block by block, and read back only if not one byte has changed.

What the digests prove: that nothing was changed since the file was written. Someone who rewrites the whole file can make them
anew; only time evidence or a re-run speaks against that.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from wm_audit.board import schema
from wm_audit.board.schema import pointer
from wm_audit.core import AuditError, Key, Row, Verdict, strict_json
from wm_audit.core.errors import why
from wm_audit.core.files import write_atomic
from wm_audit.core.record import seal, sealed

_ZEROS = "0" * 64
_HEAD = re.compile(r'\A\{\n  "schema": "[^"\n]*",\n  "digest": "sha256:([0-9a-f]{64})"')
_OUTSIDE = (
    "the digest of these bytes; the change lies outside rows, statistics and verdicts: in status, missing, claim, preregistration, "
    "config, environment or deviations, or in the layout of the text"
)


_PROMISE = ("version", "digest", "status", "locked_on", "log")


def build(
    *,
    rows: Iterable[Row | Mapping[str, Any]],
    statistics: Mapping[str, Mapping[str, Any]],
    verdicts: Sequence[Verdict],
    preregistration: Mapping[str, Any],
    config: Mapping[str, Any],
    environment: Mapping[str, Any],
    claim: str = "exploratory",
    missing: Iterable[Key] = (),
    deviations: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The whole document; the same content gives the same bytes in whatever order it arrives.

    Args:
        rows: rows, or rows already sealed by the record they came from.
        statistics: per environment, as `wm_audit.verdict.judge` gives them.
        verdicts: as `judge` gives them.
        preregistration: version, digest, status and locked_on of the promise; log, the digest of its deviations, where there are any.
        config: the executed configuration, with what `judge` was given.
        environment: what the numbers' last bits depend on, with its digest.
        claim: confirmatory, confirmatory_with_deviations or exploratory; put on every verdict.
        missing: planned cells without a row; any of them makes the result partial.
        deviations: the logged deviations from the promise.
    """
    plain = [seal(row.to_json() if isinstance(row, Row) else row) for row in rows]
    absent = sorted(missing)
    document = {
        "schema": schema.RESULTS,
        "digest": f"sha256:{_ZEROS}",
        "status": "partial" if absent else "complete",
        "missing": [key.to_json() for key in absent],
        "claim": claim,
        "preregistration": {name: preregistration[name] for name in _PROMISE if name != "log" or name in preregistration},
        "config": ordered(config),
        "environment": ordered(environment),
        "rows": sorted(plain, key=lambda row: Key(**row["key"])),
        "statistics": {env: seal(statistics[env]) for env in sorted(statistics)},
        "verdicts": [seal(replace(item, claim=claim).to_json()) for item in verdicts],
        "deviations": [ordered(item) for item in deviations],
    }
    return document | {"digest": digest_of(strict_json.dumps(document))}


def text(document: Mapping[str, Any], *, where: str) -> str:
    """The document as the file holds it, checked against its schema and its seals.

    Raises:
        AuditError: the document is not a valid results file.
    """
    made = strict_json.dumps(dict(document))
    verify_text(made, where=where)
    return made


def write(path: Path, document: Mapping[str, Any]) -> None:
    """Writes the document whole or not at all.

    Raises:
        AuditError: the document is not a valid results file, or the place cannot be written.
    """
    write_atomic(path, text(document, where=str(path)))


def read(path: Path) -> dict[str, Any]:
    """Reads a results file and proves it whole.

    Raises:
        AuditError: unreadable, not of this schema, or changed after it was written; names the file and the JSON pointer.
    """
    try:
        found = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise AuditError(f"cannot be read ({why(error)})", where=str(path), expected="a results file", fix="check the path") from error
    except UnicodeDecodeError as error:
        raise AuditError("is not UTF-8 text", where=str(path), expected="a results file", fix="restore it or run again") from error
    return verify_text(found, where=str(path))


def verify_text(text: str, *, where: str) -> dict[str, Any]:
    """Parses a results file's text and checks schema, the seal of every block, and the digest of the whole.

    Raises:
        AuditError: the first of these that fails, with its JSON pointer.
    """
    document = strict_json.loads(text, where=where)
    schema.check(document, where=where)
    for place, block in blocks(document):
        if not sealed(block):
            raise _changed(f"{where} at {place}", "a block whose sha256 is its own")
    if digest_of(text) != document["digest"]:
        raise _changed(f"{where} at /digest", _OUTSIDE)
    return dict(document)


def blocks(document: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Every block that carries its own sha256, with its JSON pointer."""
    found = [(pointer("rows", place), block) for place, block in enumerate(document["rows"])]
    found += [(pointer("statistics", env), block) for env, block in document["statistics"].items()]
    return found + [(pointer("verdicts", place), block) for place, block in enumerate(document["verdicts"])]


def rows_of(document: Mapping[str, Any]) -> list[Row]:
    """The rows of a document that `read` returned."""
    return [Row.from_json(entry) for entry in document["rows"]]


def digest_of(text: str) -> str:
    """sha256 over the text with the 64 digits of its own digest replaced by zeros; a text not laid out by the writer has none."""
    head = _HEAD.match(text)
    if head is None:
        return ""
    bare = text[: head.start(1)] + _ZEROS + text[head.end(1) :]
    return "sha256:" + hashlib.sha256(bare.encode("utf-8", "surrogatepass")).hexdigest()


def _changed(where: str, expected: str) -> AuditError:
    return AuditError("was changed after it was written", where=where, expected=expected, fix="restore the file, or merge or run again")


def ordered(value: Any) -> Any:
    """Keys sorted at every depth: maps that arrive in different orders leave in one."""
    if isinstance(value, Mapping):
        return {key: ordered(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [ordered(item) for item in value]
    return value
