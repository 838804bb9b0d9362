import dataclasses
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from wm_audit.core import AuditError, strict_json
from wm_audit.data import Dataset, Episodes, Replay, assemble, load
from wm_audit.data.episode import LAYOUT
from wm_audit.data.folder import MANIFEST, temporaries
from wm_audit.envs.protocol import Oracle

FRACTIONS = {"train": 0.6, "probe": 0.2, "held_out": 0.2}
ARRAYS = [*LAYOUT, "split_train", "split_probe", "split_held_out"]


@pytest.fixture
def saved(dataset: Dataset, tmp_path: Path) -> Path:
    dataset.save(tmp_path / "data")
    return tmp_path / "data"


def test_what_is_loaded_is_what_was_saved(dataset: Dataset, saved: Path) -> None:
    back = load(saved, verify=True)
    assert (back.digest, back.env, back.collection) == (dataset.digest, dataset.env, dataset.collection)
    assert back.episodes.behaviours == dataset.episodes.behaviours
    for name, array in back.episodes.arrays().items():
        assert array.tobytes() == dataset.episodes.arrays()[name].tobytes()
    assert all(np.array_equal(back.split[name], ids) for name, ids in dataset.split.items())
    assert sorted(item.name for item in saved.iterdir()) == sorted([MANIFEST, *(f"{name}.npy" for name in ARRAYS)])
    assert np.array_equal(np.load(saved / "action.npy"), dataset.episodes.action)  # ordinary .npy files


def test_loaded_arrays_are_mapped_and_read_only(dataset: Dataset, saved: Path) -> None:
    for opened in (dataset, load(saved)):
        for array in [*opened.episodes.arrays().values(), *opened.split.values()]:
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
    assert isinstance(load(saved).episodes.obs.base, np.memmap)
    assert Replay(load(saved), 2, 3).starts == Replay(dataset, 2, 3).starts


def test_digest_is_of_the_content(
    dataset: Dataset, world: Oracle, record: Callable[..., Episodes], make_world: Callable[..., Oracle]
) -> None:
    assert assemble(record(world, chunk=5), world.spec, FRACTIONS, 7, 3).digest == dataset.digest
    reward = dataset.episodes.reward.copy()
    reward[3, 0] = np.nextafter(reward[3, 0], 9)
    other = [
        assemble(dataclasses.replace(dataset.episodes, reward=reward), world.spec, FRACTIONS, 7, 3),
        assemble(dataset.episodes, world.spec, FRACTIONS | {"train": 0.5, "probe": 0.3}, 7, 3),
        assemble(dataset.episodes, make_world(weight=2.0).spec, FRACTIONS, 7, 3),
        assemble(dataclasses.replace(dataset.episodes, behaviours=("a", "b", "c")), world.spec, FRACTIONS, 7, 3),
        assemble(dataset.episodes, world.spec, FRACTIONS, 7, 4),
    ]
    assert len({dataset.digest, *(item.digest for item in other)}) == 6


@pytest.mark.parametrize("name", [*(f"{name}.npy" for name in ARRAYS), MANIFEST])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.999])
def test_a_torn_file_is_named(name: str, share: float, saved: Path) -> None:
    file = saved / name
    os.truncate(file, int(file.stat().st_size * share))
    with pytest.raises(AuditError, match=name):
        load(saved)


@pytest.mark.parametrize("name", [*(f"{name}.npy" for name in ARRAYS), MANIFEST])
def test_a_missing_or_longer_file_is_named(name: str, saved: Path) -> None:
    file = saved / name
    content = file.read_bytes()
    file.write_bytes(content + b"x")
    with pytest.raises(AuditError, match=name):
        load(saved)
    file.unlink()
    with pytest.raises(AuditError, match=name):
        load(saved)


@pytest.mark.parametrize("name", [*(f"{name}.npy" for name in ARRAYS), MANIFEST])
@pytest.mark.parametrize("mask", [0x01, 0x29])
def test_one_flipped_byte_is_found_wherever_it_is(name: str, mask: int, saved: Path) -> None:
    file = saved / name
    content = file.read_bytes()
    for at in [*range(0, min(128, len(content)), 9), 128, len(content) // 2, len(content) - 1]:
        file.write_bytes(content[:at] + bytes([content[at] ^ mask]) + content[at + 1 :])
        with pytest.raises(AuditError, match=name):
            load(saved, verify=True)
    file.write_bytes(content)
    load(saved, verify=True)


def test_a_changed_byte_costs_a_full_read_to_find(saved: Path) -> None:
    file = saved / "reward.npy"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(bytes(content))
    load(saved)
    with pytest.raises(AuditError, match=r"reward\.npy"):
        load(saved, verify=True)


def test_an_array_of_another_data_set_is_found(saved: Path, tmp_path: Path, world: Oracle, record: Callable[..., Episodes]) -> None:
    assemble(record(world, seed=4), world.spec, FRACTIONS, 7, 4).save(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "obs.npy", saved / "obs.npy")
    with pytest.raises(AuditError, match=r"obs\.npy"):
        load(saved, verify=True)


def test_another_kind_of_manifest_is_refused(saved: Path) -> None:
    for text in ("[]", "{}", strict_json.dumps({"schema": "other/1"})):
        (saved / MANIFEST).write_text(text)
        with pytest.raises(AuditError, match="not a manifest of this kind"):
            load(saved)


def test_a_place_that_is_taken_is_not_overwritten(dataset: Dataset, saved: Path) -> None:
    before = (saved / MANIFEST).read_bytes()
    with pytest.raises(AuditError, match="cannot be written"):
        dataset.save(saved)
    assert (saved / MANIFEST).read_bytes() == before
    assert temporaries(saved) == []


def test_a_writer_that_fails_leaves_nothing(dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(AuditError, match="No space left"):
        dataset.save(tmp_path / "data")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["action", "reward"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_refused_with_its_file(name: str, value: float, dataset: Dataset, tmp_path: Path) -> None:
    """Sealed and all: the digests are right, and still nobody may train on it."""
    array = getattr(dataset.episodes, name).copy()
    array[(4, 2, *[0] * (array.ndim - 2))] = value
    spoilt = assemble(dataclasses.replace(dataset.episodes, **{name: array}), dataset.env, FRACTIONS, 7, 3)
    spoilt.save(tmp_path / "data")
    with pytest.raises(AuditError, match=rf"{name}\.npy: holds a number that is not finite, at \(4, 2.*fix: delete the folder"):
        load(tmp_path / "data")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"env": "counting", "seed": 4}, "manifest.json: was made for seed 3; expected seed 4"),
        ({"env": "other", "seed": 3}, "was made for env 'counting'; expected env 'other'"),
        ({"env": "counting"}, "was made for seed 3; expected seed 'nothing'"),
        ({"env": "counting", "seed": 3, "sources": "x"}, "was made for sources 'nothing'; expected sources 'x'"),
    ],
)
def test_a_folder_made_for_something_else_is_refused(wanted: dict[str, str | int], said: str, dataset: Dataset, tmp_path: Path) -> None:
    """A swapped folder is whole in itself."""
    dataset.save(tmp_path / "data", {"env": "counting", "seed": 3})
    assert load(tmp_path / "data", verify=True, made_for={"seed": 3, "env": "counting"}).digest == dataset.digest
    with pytest.raises(AuditError, match=said):
        load(tmp_path / "data", made_for=wanted)
