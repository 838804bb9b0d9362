"""The examples of CONTRIBUTING.md are complete and do what the page says."""

import importlib.util
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from wm_audit import envs
from wm_audit.core import stream
from wm_audit.diagnostics import DIAGNOSTICS, Evidence
from wm_audit.instruments.audit.resolve import family
from wm_audit.models import Task
from wm_audit.models.protocol import Decodes, Rewards
from wm_audit.prereg.promise import loads_promise

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLES = {Path(name).name: text for text, name in re.findall(r"```python\n(# (\S+\.py)\n.*?)```", PAGE, re.DOTALL)}


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def example(tmp_path: Path) -> Callable[[str], ModuleType]:
    """Writes an example to a file, as a reader would, and imports it."""

    def of(name: str) -> ModuleType:
        (tmp_path / name).write_text(EXAMPLES[name], encoding="utf-8")
        return loaded(tmp_path / name)

    return of


def env_contract() -> list[Callable[..., None]]:
    """The contract tests that ask for nothing but a world."""
    module = loaded(ROOT / "tests" / "contracts" / "test_envs.py")
    tests = [item for name, item in vars(module).items() if name.startswith("test_")]
    return [item for item in tests if list(inspect.signature(item).parameters) == ["env"]]


def test_every_python_block_is_run() -> None:
    assert sorted(EXAMPLES) == ["persistence.py", "pixel_mae.py", "slider.py"]
    assert len(env_contract()) > 8


@pytest.mark.parametrize("claim", env_contract(), ids=lambda claim: claim.__name__)
def test_the_environment_keeps_the_contract(
    claim: Callable[..., None], example: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(envs.ENVS, "slider", example("slider.py").Slider)
    claim(envs.make("slider", {}))
    claim(envs.make("slider", {"limit": 3}))


def test_the_model_is_found_by_its_file_and_predicts_no_change(example: Callable[[str], ModuleType], tmp_path: Path) -> None:
    example("persistence.py")
    model = family(f"{tmp_path / 'persistence.py'}:build")(_task())
    assert isinstance(model, Decodes)
    assert not isinstance(model, Rewards)
    evidence = contract_evidence(model)
    before = np.concatenate([evidence.segments.context_obs[:, -1:], evidence.segments.obs[:, :-1]], axis=1)
    expected = np.square((before.astype(float) - evidence.segments.obs) / 255.0).mean()
    assert DIAGNOSTICS["pixel_mse"].measure(evidence).value == pytest.approx(expected, rel=1e-5)
    assert DIAGNOSTICS["return_ece"].measure(evidence).value is None


def test_the_diagnostic_measures_what_it_says(example: Callable[[str], ModuleType]) -> None:
    entry = example("pixel_mae.py").ENTRY
    assert entry.name.partition(".")[0] in DIAGNOSTICS
    evidence = contract_evidence(example("persistence.py").build(_task()))
    before = np.concatenate([evidence.segments.context_obs[:, -1:], evidence.segments.obs[:, :-1]], axis=1)
    found = entry.measure(evidence)
    assert found.value == pytest.approx(np.abs((before.astype(float) - evidence.segments.obs) / 255.0).mean(), rel=1e-5)
    assert (found.unit, found.orientation) == (entry.unit, entry.orientation)


def test_the_promise_takes_the_line_of_the_diagnostic() -> None:
    (line,) = re.findall(r"^    (pixel_mse\.absolute: .*\n)", PAGE, re.MULTILINE)
    text = (ROOT / "configs" / "preregistration.yaml").read_text(encoding="utf-8")
    extras = loads_promise(text.replace("\nextras:\n", f"\nextras:\n  {line}")).data["extras"]
    assert extras["pixel_mse.absolute"]["unit"] == "intensity in [0, 1]"


def contract_evidence(model: Any) -> Evidence:
    """The probes on which the contract tests measure every diagnostic."""
    found: Evidence = loaded(ROOT / "tests" / "contracts" / "test_diagnostics.py").evidence(model)
    return found


def _task() -> Task:
    centre = np.full((3, 16, 16), 0.5, dtype=np.float32)
    return Task((3, 16, 16), 1, 8, 8, {"members": 1}, (stream(0, "example"),), centre, lambda function: function)
