"""Check 3: every row says under which promise, by which code, where, and from which data it was made."""

import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wm_audit.board.claim import ELSEWHERE
from wm_audit.board.schema import pointer
from wm_audit.board.verification.check import Check, Place, State, cannot, judged
from wm_audit.board.verification.compare import text
from wm_audit.board.verification.subject import Subject
from wm_audit.prereg.claims import EXPLORATORY

NAME = "lineage"


def lineage(subject: Subject, lock_commit: str | None) -> Check:
    """The rows name the file's promise and environment, and one code; under a lock their commits descend from the lock's.

    Args:
        subject: the file.
        lock_commit: the commit that added the lock file, for results whose claim rests on it; None where no claim does, or none is known.
    """
    document = subject.document
    if document["environment"].get("digest") == ELSEWHERE:
        return cannot(NAME, "the rows were measured elsewhere: nothing here says by which code, on which machine or from which data")
    places = list(_named(document))
    if places:
        return judged(NAME, places, good="", bad="a row does not name what it was made under")
    rows = document["rows"]
    most = Counter(str(row["manifest"]["code"]) for row in rows).most_common(1)[0][0]
    for index, row in enumerate(rows):
        if row["manifest"]["code"] != most:
            place = Place(pointer("rows", index, "manifest", "code"), text(row["manifest"]["code"]), f"{text(most)}, as most rows have")
            return judged(NAME, [place], good="", bad="rows were made by different sources")
    good = f"all {len(rows)} rows name the promise, the environment, one code and their data"
    dirty = sum(row["manifest"].get("dirty") is not False for row in rows)
    if dirty:
        good += f"; {dirty} of them were made from sources that no commit holds"
    if lock_commit is None and document["claim"] != EXPLORATORY.label:
        return cannot(NAME, f"{good}; but no git commit here holds the lock, so nothing says that the rows came after it")
    return judged(NAME, [], good=good, bad="") if lock_commit is None else _descent(subject, lock_commit, good)


def _named(document: Mapping[str, Any]) -> Iterator[Place]:
    """Members of a manifest that are absent, or not the file's own."""
    expected = {"preregistration": document["preregistration"]["digest"], "environment": document["environment"]["digest"]}
    for index, row in enumerate(document["rows"]):
        manifest = row["manifest"]
        for name, wanted in expected.items():
            if manifest.get(name) != wanted:
                yield Place(pointer("rows", index, "manifest", name), text(manifest.get(name)), text(wanted))
        for name in ("code", "dataset"):
            if not str(manifest.get(name, "")).startswith("sha256:"):
                yield Place(pointer("rows", index, "manifest", name), text(manifest.get(name)), "a digest")


def _descent(subject: Subject, lock_commit: str, good: str) -> Check:
    """Whether each commit that made a row came after the one that locked the promise."""
    folder = subject.path.resolve().parent
    answers: dict[str | None, bool | None] = {}
    places, unknown = [], 0
    for index, row in enumerate(subject.document["rows"]):
        commit = row["manifest"].get("commit")
        if commit not in answers:
            answers[commit] = _is_ancestor(folder, lock_commit, commit) if commit else None
        if answers[commit] is False:
            places.append(
                Place(pointer("rows", index, "manifest", "commit"), text(commit), f"a descendant of the lock's commit {lock_commit}")
            )
        unknown += answers[commit] is None
    if places:
        return judged(NAME, places, good="", bad="rows were made before the promise was locked")
    if unknown:
        return Check(NAME, State.CANNOT_CHECK, f"{good}; but git does not know the commit of {unknown} rows")
    return judged(NAME, [], good=f"{good}; their commits descend from the lock's", bad="")


def _is_ancestor(folder: Path, older: str, newer: str) -> bool | None:
    """None where there is no git, no clone, or no such commit in it."""
    line = ["git", "-C", str(folder), "merge-base", "--is-ancestor", older, newer]
    try:
        code = subprocess.run(line, capture_output=True, check=False, timeout=30).returncode
    except (OSError, subprocess.TimeoutExpired):
        return None
    return {0: True, 1: False}.get(code)
