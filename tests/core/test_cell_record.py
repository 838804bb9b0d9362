"""A record is read back only if not one byte is missing or changed."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wm_audit.core import AuditError, Key, Measurement, Row, strict_json
from wm_audit.core.record import Record, file_name, folder_of, read_record, record_paths, seal, sealed, write_record

ROW = Row(
    Key("pixel_nav", 16, 16, 3), Measurement(1.5, n=20), {"pixel_mse": Measurement(0.25)}, {"returns": [1.0, 2.0]}, {"code": "sha256:ab"}
)
RECORD = Record(
    "sha256:" + "0" * 64,
    {"version": 0, "digest": "sha256:" + "1" * 64, "status": "draft", "locked_on": None},
    {"name": "smoke", "training": {"learning_rate": "0.001"}},
    {"digest": "sha256:" + "2" * 64, "torch": "2.13.0"},
    seal(ROW.to_json()),
)


def test_a_record_comes_back(tmp_path: Path) -> None:
    path = write_record(tmp_path / "made", RECORD)
    assert path.name == "pixel_nav-16x16-seed3-trained-none.json"
    assert read_record(path) == RECORD
    assert path.read_text(encoding="utf-8") == RECORD.text()
    assert RECORD.key == ROW.key
    assert Row.from_json(RECORD.row) == ROW
    assert list(strict_json.load(path)) == ["schema", "resume_key", "preregistration", "config", "environment", "row", "sha256"]


def test_k41_every_cut_and_every_changed_byte_is_refused(tmp_path: Path) -> None:
    """verifiers#803: a line torn by a crash was resumed over."""
    path = write_record(tmp_path, RECORD)
    whole = path.read_bytes()
    cuts = [whole[:place] for place in range(len(whole))]
    flips = [whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :] for place in range(0, len(whole), 5)]
    for text in cuts + flips:
        path.write_bytes(text)
        with pytest.raises(AuditError, match="seed3"):
            read_record(path)
    path.write_bytes(whole + b" ")
    with pytest.raises(AuditError, match="not written the way records are"):
        read_record(path)


def resealed(change: Callable[[dict[str, Any]], None]) -> str:
    entry = strict_json.loads(RECORD.text(), where="x")
    change(entry)
    return strict_json.dumps(seal(entry))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda entry: entry.update(schema="wm_audit/cell/2"), "is not a record ('wm_audit/cell/2')"),
        (lambda entry: entry.pop("schema"), "is not a record (None)"),
        (lambda entry: entry.update(extra=1), "was changed"),
        (lambda entry: entry.update(row=[]), "was changed"),
        (lambda entry: entry["row"].update(outcome=Measurement(2.5).to_json()), "was changed"),
        (lambda entry: entry.update(row=seal({**ROW.to_json(), "outcome": {"value": None}})), "cannot be read"),
        (lambda entry: entry.update(row=seal({**ROW.to_json(), "key": {"env": "pixel_nav"}})), "cannot be read"),
        (lambda entry: entry.update(row=seal({**ROW.to_json(), "key": {**ROW.key.to_json(), "seed": 4}})), "another cell's row"),
    ],
)
def test_a_record_with_valid_seals_is_still_checked(tmp_path: Path, change: Callable[[dict[str, Any]], None], words: str) -> None:
    path = tmp_path / file_name(ROW.key)
    path.write_text(resealed(change), encoding="utf-8")
    with pytest.raises(AuditError) as caught:
        read_record(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["[]", "3", '"a"', "null"])
def test_json_that_is_no_record(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(AuditError, match="is not a record"):
        read_record(tmp_path / "a.json")


def test_seals() -> None:
    block = seal({"a": 1})
    assert list(block) == ["a", "sha256"]
    assert sealed(block)
    assert seal(block) == block
    assert seal({"sha256": "anything", "a": 1}) == block
    assert not sealed({"a": 1})
    assert not sealed({**block, "a": 2})
    assert not sealed({**block, "b": 1})
    assert not sealed({**block, "a": "\ud800"})
    assert block["sha256"] == "sha256:" + hashlib.sha256(b'{\n  "a": 1\n}\n').hexdigest()


@settings(max_examples=50)
@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=20))
def test_every_key_has_a_name_of_its_own_that_a_folder_can_hold(env: str) -> None:
    name = file_name(Key(env, 1, 2, 3))
    assert "/" not in name
    assert "\x00" not in name
    assert name.isascii()
    assert name != file_name(Key(env + "x", 1, 2, 3))
    assert Path(name).name == name


def test_only_records_are_listed(tmp_path: Path) -> None:
    for name in ("b.json", "a.json", ".a.json.x.tmp", ".hidden.json", "timings.jsonl", ".lock"):
        (tmp_path / name).touch()
    assert [path.name for path in record_paths(tmp_path)] == ["a.json", "b.json"]


def test_the_folder_stands_beside_the_result() -> None:
    assert folder_of(Path("out/results_pixel_nav.json")) == Path("out/results_pixel_nav.cells")
    assert folder_of(Path("results")) == Path("results.cells")
