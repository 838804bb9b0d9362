"""What an earlier run left is used again only if it is whole and was made for the very thing that is asked: else one line says so."""

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from wm_audit.core import AuditError, strict_json
from wm_audit.core.record import seal
from wm_audit.data import Dataset
from wm_audit.instruments.audit.data import dataset
from wm_audit.instruments.audit.ensemble import Ensemble, ensemble
from wm_audit.instruments.audit.machine import environment_of
from wm_audit.instruments.audit.protocol import Setting, cells
from wm_audit.prereg.audit_config import load_config
from wm_audit.run.cells import Cell

pytestmark = pytest.mark.xdist_group("tiny audit")
Command = Callable[..., subprocess.CompletedProcess[str]]
WEIGHTS, META, TRAINING = "weights.safetensors", "model.json", "training.json"


@pytest.fixture
def setting(run_file: Path, reference: Path, tmp_path: Path) -> Setting:
    """The tiny run, resumed in a copy of what it left."""
    folder = Path(shutil.copytree(reference.with_name("results.cells"), tmp_path / "results.cells"))
    config = load_config(run_file)
    return Setting(config, folder, "dreamer_lite", {}, environment_of(config, compiled=False)["digest"], compiled=False)


def piece(setting: Setting, kind: str, name: str) -> Path:
    """The one stored folder of a kind whose name begins so."""
    (found,) = (setting.folder / kind).glob(f"{name}-*")
    return found


def data(setting: Setting, seed: int = 0) -> Dataset:
    return dataset(setting, "pixel_nav", seed)


def trained(setting: Setting, hidden: int = 4, seed: int = 0) -> Ensemble:
    """The model of a capacity and seed, which must not be trained."""

    def wanted(cell: Cell) -> bool:
        return (cell.key.hidden, cell.key.seed, cell.key.arm) == (hidden, seed, "trained")

    def refuse(text: str) -> None:
        raise AssertionError(text)

    return ensemble(setting, next(cell for cell in cells(setting) if wanted(cell)), data(setting, seed), refuse)


def exchange(one: Path, two: Path) -> None:
    other = one.with_name("other")
    one.rename(other)
    two.rename(one)
    other.rename(two)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x40
    path.write_bytes(content)


def test_what_was_left_is_used(setting: Setting) -> None:
    """Nothing is trained, nothing collected: the folders are those of the run before."""
    before = sorted(setting.folder.glob("*/*"))
    assert trained(setting).training["steps"] == 6
    assert sorted(setting.folder.glob("*/*")) == before


def test_data_of_another_seed_are_refused(setting: Setting) -> None:
    exchange(piece(setting, "data", "pixel_nav-seed0"), piece(setting, "data", "pixel_nav-seed1"))
    with pytest.raises(AuditError, match=r"manifest\.json: was made for seed 1; expected seed 0, which this cell asks for; fix: delete"):
        data(setting)


@pytest.mark.parametrize("name", ["reward", "obs", "action", "split_train", "snapshot"])
def test_data_that_were_edited_are_refused(name: str, setting: Setting) -> None:
    flip(piece(setting, "data", "pixel_nav-seed0") / f"{name}.npy")
    with pytest.raises(AuditError, match=rf"{name}\.npy: has been changed since it was written.*fix: delete the folder"):
        data(setting)


@pytest.mark.parametrize(
    ("other", "said"), [("pixel_nav-8x8-seed0", "was made for hidden 8; expected hidden 4"), ("pixel_nav-4x4-seed1", "was made for seed 1")]
)
def test_a_model_of_another_cell_is_refused(other: str, said: str, setting: Setting) -> None:
    exchange(piece(setting, "models", "pixel_nav-4x4-seed0"), piece(setting, "models", other))
    with pytest.raises(AuditError, match=rf"training\.json: {said}.*fix: delete its folder: --resume trains the model again"):
        trained(setting)


def test_weights_of_another_model_are_refused(setting: Setting) -> None:
    """Of the same shape, and a whole checkpoint: only the file beside it knows better."""
    mine, other = (piece(setting, "models", f"pixel_nav-4x4-seed{seed}") for seed in (0, 1))
    for name in (WEIGHTS, META):
        shutil.copy(other / name, mine / name)
    with pytest.raises(AuditError, match=r"model\.json: is another model's"):
        trained(setting)


@pytest.mark.parametrize("name", [WEIGHTS, META, TRAINING])
def test_a_model_that_was_edited_is_refused(name: str, setting: Setting) -> None:
    flip(piece(setting, "models", "pixel_nav-4x4-seed0") / name)
    with pytest.raises(AuditError, match=name):
        trained(setting)


def test_a_report_that_was_edited_is_refused(setting: Setting) -> None:
    path = piece(setting, "models", "pixel_nav-4x4-seed0") / TRAINING
    entry = strict_json.load(path)
    entry["training"]["steps"] = 7
    path.write_text(strict_json.dumps(entry), encoding="utf-8")
    with pytest.raises(AuditError, match=r"training\.json: was changed after it was written"):
        trained(setting)
    path.write_text(strict_json.dumps(seal(entry | {"schema": "wm_audit/trained/0"})), encoding="utf-8")
    with pytest.raises(AuditError, match=r"training\.json: was changed after it was written"):
        trained(setting)


def test_another_machine_or_compiler_takes_none_of_it(setting: Setting) -> None:
    """The names of the folders say for what they are: there is nothing of that name, and it would be made."""
    elsewhere = replace(setting, environment="sha256:" + "0" * 64)
    before = {path.name for path in (setting.folder / "data").iterdir()}
    data(elsewhere)
    assert len({path.name for path in (setting.folder / "data").iterdir() if not path.name.startswith(".")} - before) == 1


def test_a_run_that_finds_an_edited_piece_fails_its_cells_in_one_line_until_the_fix_is_done(
    run: Command, run_file: Path, reference: Path, tmp_path: Path
) -> None:
    """The whole way: flipped reward bytes are found on every --resume, and the fix that the line names mends it."""
    out = tmp_path / "results.json"
    folder = Path(shutil.copytree(reference.with_name("results.cells"), tmp_path / "results.cells"))
    for record in folder.glob("*4x4-seed0-trained-int8.json"):
        record.unlink()
    (stored,) = (folder / "data").glob("pixel_nav-seed0-*")
    flip(stored / "reward.npy")
    arguments = ("run_audit", "--config", str(run_file), "--jobs", "1", "--resume", "--out", str(out))
    for _ in range(2):
        done = run(*arguments)
        assert done.returncode == 2
        failed = [line for line in done.stdout.splitlines() if line.startswith("failed")]
        assert len(failed) == 1
        assert "reward.npy: has been changed since it was written" in failed[0]
        assert "Traceback" not in done.stderr + done.stdout
    shutil.rmtree(stored)
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    assert out.read_bytes() == reference.read_bytes()
