from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")  # a busy machine is no failure

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.fixture(scope="session")
def configs() -> Path:
    """The folder of the project's own promise and runs."""
    return CONFIGS


@pytest.fixture(scope="session")
def text(configs: Path) -> str:
    """The text of the project's promise."""
    return (configs / "preregistration.yaml").read_text(encoding="utf-8")


@pytest.fixture
def with_promise(tmp_path: Path, text: str) -> Callable[..., Path]:
    """Writes a run beside a promise (the project's own by default) and gives the run's path."""

    def write(run: str, promise: str = text) -> Path:
        (tmp_path / "preregistration.yaml").write_text(promise, encoding="utf-8")
        path = tmp_path / "run.yaml"
        path.write_text("name: run\nmode: smoke\n" + run, encoding="utf-8")
        return path

    return write
