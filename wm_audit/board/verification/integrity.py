"""Check 5: nothing was changed since the file was written, and every number follows from the rows."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from wm_audit.board import results
from wm_audit.board.schema import pointer
from wm_audit.board.verification.check import Check, Place, judged
from wm_audit.board.verification.compare import differences, same, text
from wm_audit.board.verification.subject import Subject
from wm_audit.core import AuditError, Key, strict_json
from wm_audit.core.record import sealed

NAME = "integrity"
Recompute = Callable[[Mapping[str, Any]], dict[str, Any]]
"""From a results document to the same document made anew from its rows, configuration and headers."""

_DERIVED = ("status", "missing", "statistics", "verdicts")


def integrity(subject: Subject, recompute: Recompute) -> Check:
    """The seal of every block, the digest of the whole, the rows' own sums, and everything that follows from the rows."""
    document = subject.document
    places = [*_seals(document), *_whole(subject), *_environment(document), *_rows(document)]
    exact = True
    try:
        fresh = recompute(document)
    except (AuditError, KeyError, TypeError, ValueError) as error:
        places.append(Place("/rows", "rows and configuration that cannot be judged", f"evidence of the planned grid ({_said(error)})"))
    else:
        places += [place for part in _DERIVED for place in differences(document[part], fresh[part], pointer(part))]
        exact = strict_json.dumps(fresh) == subject.text
    count = len(document["rows"])
    how = "bit for bit" if exact else "within 1e-9; the last bits are another processor's"
    return judged(
        NAME,
        places,
        good=f"no byte was changed, and all statistics and verdicts follow from the {count} rows, {how}",
        bad="the file was changed after it was written, or its numbers do not follow from its rows",
    )


def _seals(document: Mapping[str, Any]) -> Iterator[Place]:
    for where, block in results.blocks(document):
        if not sealed(block):
            key = block.get("key")
            name = f" ({Key(**key).text()})" if isinstance(key, dict) else ""
            yield Place(where, f"a block that was changed{name}", "the block whose sha256 stands in it")


def _whole(subject: Subject) -> Iterator[Place]:
    """The digest of all bytes, which also guards what lies outside the blocks."""
    if results.digest_of(subject.text) != subject.document["digest"]:
        yield Place("/digest", text(subject.document["digest"]), "the digest of these bytes, or the bytes of this digest")


def _environment(document: Mapping[str, Any]) -> Iterator[Place]:
    """The environment names its own digest, unless the rows were measured elsewhere."""
    own = document["environment"]
    try:
        meant = strict_json.digest({name: item for name, item in own.items() if name != "digest"})
    except ValueError:  # a number with a fraction, which no run writes there
        meant = ""
    if len(own) > 1 and own.get("digest") != meant:
        yield Place("/environment/digest", text(own.get("digest")), "the digest of the environment's other members")


def _rows(document: Mapping[str, Any]) -> Iterator[Place]:
    """An outcome is the mean of the recorded returns."""
    for index, row in enumerate(document["rows"]):
        returns, stated = row["details"].get("returns"), row["outcome"]["value"]
        if not isinstance(returns, list) or not returns or stated is None:
            continue
        mean = sum(returns) / len(returns)
        if not same(float(stated), float(mean)):
            yield Place(pointer("rows", index, "outcome", "value"), text(stated), f"{mean!r}, the mean of /rows/{index}/details/returns")


def _said(error: Exception) -> str:
    return error.line() if isinstance(error, AuditError) else f"{type(error).__name__}: {error}"
