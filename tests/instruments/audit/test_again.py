"""Cells of a results file are made again from nothing, and a row that nobody measured is found out."""

import json
from pathlib import Path

import pytest

from wm_audit.board.verification import rerun as check
from wm_audit.board.verification.check import State
from wm_audit.board.verification.subject import subject
from wm_audit.core import AuditError, Key
from wm_audit.instruments.audit.again import again
from wm_audit.prereg.promise import load_promise

KEYS = [Key("pixel_nav", 4, 4, 1, "trained", "int8"), Key("pixel_nav", 0, 0, 0, "constant")]


def test_a_trained_twin_and_a_control_come_out_bit_for_bit(reference: Path, run_file: Path) -> None:
    document = json.loads(reference.read_text(encoding="utf-8"))
    made = again(document, KEYS, load_promise(run_file.with_name("preregistration.yaml")))
    rows = {Key(**row["key"]): row for row in document["rows"]}
    for key in KEYS:
        for part in ("outcome", "diagnostics"):
            assert made[key][part] == rows[key][part]


def test_without_the_promise_nothing_is_made(reference: Path) -> None:
    with pytest.raises(AuditError, match="the promise of the file is not here"):
        again(json.loads(reference.read_text(encoding="utf-8")), KEYS, None)


def test_an_invented_outcome_fails_and_is_named(reference: Path, run_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = subject(reference)
    promise = load_promise(run_file.with_name("preregistration.yaml"))
    monkeypatch.setattr(check, "sample", lambda *_: KEYS[1:])
    found = check.rerun(read, 1, lambda document, keys: again(document, keys, promise))
    assert (found.state, KEYS[1].text() in found.sentence) == (State.PASS, True)
    index = next(index for index, row in enumerate(read.document["rows"]) if Key(**row["key"]) == KEYS[1])
    read.document["rows"][index]["outcome"]["value"] += 0.01
    found = check.rerun(read, 1, lambda document, keys: again(document, keys, promise))
    assert (found.state, found.places[0].where) == (State.FAIL, f"/rows/{index}/outcome/value")


def test_a_sample_holds_each_cell_once(reference: Path) -> None:
    read = subject(reference)
    keys = check.sample(read, 1000)
    assert len(set(keys)) == len(keys) == len(read.document["rows"])
    assert len(check.sample(read, 3)) == 3
    assert check.rerun(read, 0, None).state is State.NOT_REQUESTED


def test_a_model_from_outside_cannot_be_made_again_and_is_not_replaced(reference: Path, run_file: Path) -> None:
    document = json.loads(reference.read_text(encoding="utf-8"))
    next(row for row in document["rows"] if "model" in row["manifest"])["manifest"]["model"] = "sha256:" + "5" * 64
    with pytest.raises(AuditError, match="brought from outside"):
        again(document, KEYS, load_promise(run_file.with_name("preregistration.yaml")))
