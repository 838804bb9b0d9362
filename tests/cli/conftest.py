"""A small promise and run of its own for every test, and rows to judge."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
Write = Callable[..., Path]

RUN = "name: mine\nmode: pilot\nenvironments: [pixel_nav]\nseeds: [0]\ntraining: {steps: 5}\n"


@pytest.fixture
def write_run(tmp_path: Path) -> Write:
    """Writes the project's promise, changed by (found, wanted) pairs, and a run; returns the run's path."""

    def write(run: str = RUN, *changes: tuple[str, str]) -> Path:
        text = (ROOT / "configs" / "preregistration.yaml").read_text(encoding="utf-8")
        for found, wanted in changes:
            assert text.count(found) >= 1, found
            text = text.replace(found, wanted, 1)
        (tmp_path / "preregistration.yaml").write_text(text, encoding="utf-8")
        path = tmp_path / "mine.yaml"
        path.write_text(run, encoding="utf-8")
        return path

    return write


@pytest.fixture
def rows_csv(tmp_path: Path) -> Path:
    """Five seeds at two capacities; one number is missing, and says why."""
    lines = ["env,hidden,embed,seed,outcome,pixel_mse,counterfactual_tau"]
    for capacity in (16, 32):
        for seed in range(5):
            tau = "probe_degenerate" if (capacity, seed) == (32, 4) else f"{0.1 * seed:.3f}"
            lines.append(f"my_world,{capacity},{capacity},{seed},{10 + seed * 1.5 + capacity},{0.01 * (5 - seed):.4f},{tau}")
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def one_line(capsys: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """What was written to standard error: exactly one line."""

    def read() -> str:
        lines = capsys.readouterr().err.strip().splitlines()
        assert len(lines) == 1, lines
        return re.sub(r"\s+", " ", lines[0])

    return read
