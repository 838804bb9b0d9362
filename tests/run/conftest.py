import importlib
import io
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

from wm_audit.run.grid import Outcome, run_grid
from wm_audit.run.progress import Progress
from wm_audit.run.store import Store

settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")  # a busy machine is no failure

Grid = Callable[..., tuple[Outcome, str]]


@pytest.fixture(scope="session")
def toy() -> Iterator[ModuleType]:
    """The module of toy work, importable by workers under its own name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent))
        yield importlib.import_module("grid_toy")


@pytest.fixture(scope="session")
def grid(toy: ModuleType) -> Grid:
    """Runs the toy grid in a folder; gives the outcome and what was shown."""

    def run(folder: Path, work: Any = None, *, cells: Any = None, stamp: Any = None, **options: Any) -> tuple[Outcome, str]:
        shown = io.StringIO()
        with Store(folder, stamp or toy.STAMP) as store:
            outcome = run_grid(
                toy.cells() if cells is None else cells,
                store,
                work or toy.work,
                progress=lambda total, kept: Progress(total, kept=kept, out=shown),
                **options,
            )
        return outcome, shown.getvalue()

    return run


@pytest.fixture(scope="session")
def contents() -> Callable[[Path], dict[str, bytes]]:
    """The records of a folder by name."""

    def read(folder: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted(folder.glob("*.json"))}

    return read


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, grid: Grid) -> Path:
    """A folder in which the whole toy grid was run by one worker; never written to by tests."""
    folder = tmp_path_factory.mktemp("finished") / "cells"
    grid(folder, jobs=1)
    return folder


@pytest.fixture
def copied(tmp_path: Path, finished: Path) -> Path:
    """A copy of it to work on."""
    return Path(shutil.copytree(finished, tmp_path / "copied"))
