"""A model file is known by its own bytes and by those of every file of its folder that it imports, however late."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from wm_audit.core import AuditError, UsageError
from wm_audit.instruments.audit.protocol import Setting, cells
from wm_audit.instruments.audit.ready import check_model
from wm_audit.instruments.audit.resolve import family, model_files, require_files
from wm_audit.prereg.audit_config import load_config

pytestmark = pytest.mark.xdist_group("own models")

MODEL = """
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import beside_it
import torch
from inside_it.deeper import GAIN


class Plain:
    members = 3

    def initial(self, batch):
        import only_at_work
        return {"last": torch.zeros(3, batch, 2)}

    def observe(self, state, action, obs):
        return state

    def imagine(self, state, action):
        return state


def build(task):
    import when_built
    return Plain()
"""
HELPERS = ("beside_it.py", "inside_it/__init__.py", "inside_it/deeper.py", "when_built.py", "only_at_work.py")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A model with helpers, one of them never imported."""
    place, path, modules = tmp_path / "theirs", list(sys.path), set(sys.modules)
    (place / "inside_it").mkdir(parents=True)
    for name in (*HELPERS, "unrelated.py"):
        (place / name).write_text("GAIN = 1\n", encoding="utf-8")
    (place / "model.py").write_text(MODEL, encoding="utf-8")
    yield place
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(place)):
            del sys.modules[name]


def test_every_file_that_it_imports_counts_and_no_other(folder: Path, run_file: Path) -> None:
    name = f"{folder / 'model.py'}:build"
    config = load_config(run_file)

    def keys() -> set[str]:
        setting = Setting(config, folder, name, model_files(name), "sha256:0", compiled=False)
        return {cell.resume_key("code") for cell in cells(setting) if cell.key.arm == "trained"}

    check_model(config, name)
    assert set(model_files(name)) == {"model.py", *HELPERS[:4]}
    before = keys()
    for file in ("model.py", *HELPERS[:4]):
        text = (folder / file).read_text(encoding="utf-8")
        (folder / file).write_text(text + "# other\n", encoding="utf-8")
        assert not keys() & before, file
        (folder / file).write_text(text, encoding="utf-8")
        assert keys() == before
    (folder / "unrelated.py").write_text("GAIN = 2\n", encoding="utf-8")
    assert keys() == before


def test_what_is_imported_only_at_work_or_changed_meanwhile_is_refused(folder: Path, run_file: Path) -> None:
    name = f"{folder / 'model.py'}:build"
    check_model(load_config(run_file), name)
    begun_with = model_files(name)
    require_files(name, begun_with)
    (folder / "beside_it.py").write_text("GAIN = 2\n", encoding="utf-8")
    with pytest.raises(AuditError, match=r"beside_it\.py: was changed while the run went on"):
        require_files(name, begun_with)
    (folder / "beside_it.py").write_text("GAIN = 1\n", encoding="utf-8")
    sys.path.insert(0, str(folder))
    __import__("only_at_work")
    with pytest.raises(AuditError, match=r"imports only_at_work\.py only while it works.*fix: import it at the top"):
        require_files(name, begun_with)


def test_a_model_in_the_clone_is_not_known_by_the_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that lies above the package would otherwise change with every module of the package, and differ from worker to worker."""
    from wm_audit.instruments.audit import resolve

    clone = Path(resolve.__file__).resolve().parents[3]
    assert not list(resolve._beneath(clone / "wm_audit"))
    assert not [path for path in resolve._beneath(clone) if path.is_relative_to(clone / "wm_audit")]


def test_a_built_in_family_has_no_files() -> None:
    assert model_files("dreamer_lite") == {}


@pytest.mark.parametrize(
    "body", ["    return 7", "    raise KeyError(task)", "    raise SystemExit", "    return type('L', (), {'gradient': 1})()"]
)
def test_a_function_that_builds_nothing_is_wrong_usage(body: str, tmp_path: Path, run_file: Path) -> None:
    (tmp_path / "mine.py").write_text(f"def build(task):\n{body}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"mine\.py:build: cannot be built at 4x4 for pixel_nav: .*; fix: correct the file") as caught:
        check_model(load_config(run_file), f"{tmp_path / 'mine.py'}:build")
    assert "\n" not in str(caught.value)


def test_a_file_that_leaves_the_program_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("raise SystemExit(0)\n", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be imported: SystemExit"):
        family(f"{tmp_path / 'mine.py'}:build")


def test_a_file_may_use_what_looks_its_own_module_up(tmp_path: Path) -> None:
    text = "from __future__ import annotations\nfrom dataclasses import dataclass\n\n\n@dataclass\nclass M:\n    x: int\n"
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    assert family(f"{tmp_path / 'mine.py'}:M") is not None


def test_a_function_that_goes_elsewhere_leaves_the_program_where_it_was(
    tmp_path: Path, run_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--out` and the model's own file may be relative names."""
    monkeypatch.chdir(tmp_path)
    text = MODEL.partition("import beside_it")[0] + "import os\nos.chdir('/')\n\n\ndef build(task):\n    os.chdir('/')\n    return 7\n"
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="gives a int"):
        check_model(load_config(run_file), "mine.py:build")
    assert Path.cwd() == tmp_path
    assert set(model_files("mine.py:build")) == {"mine.py"}
