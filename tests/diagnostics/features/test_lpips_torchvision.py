"""A user's own files: checked tensor by tensor, computed as published (Zhang et al. 2018, equation 1)."""

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.signal import correlate
from torch import Tensor

from wm_audit.core import AuditError, stream
from wm_audit.diagnostics.features.lpips_torchvision import CONVS, load
from wm_audit.diagnostics.features.paired import paired_distances

Tensors = dict[str, Tensor]


def made_up() -> tuple[Tensors, Tensors]:
    """Weights of the right shapes that leave something to see after five rectifiers."""
    noise = torch.Generator().manual_seed(5)
    body, top = {"classifier.1.weight": torch.zeros(1)}, {}
    for stage, (place, shape) in enumerate(CONVS.items()):
        fan = float(np.prod(shape[1:]))
        body[f"features.{place}.weight"] = torch.randn(shape, generator=noise) * (2.0 / fan) ** 0.5
        body[f"features.{place}.bias"] = torch.randn(shape[0], generator=noise) * 0.1
        top[f"lin{stage}.model.1.weight"] = torch.rand((1, shape[0], 1, 1), generator=noise)
    return body, top


def saved(folder: Path, body: Tensors, top: Tensors) -> tuple[Path, Path]:
    paths = folder / "trunk.pth", folder / "heads.pth"
    for tensors, path in zip((body, top), paths, strict=True):
        torch.save(tensors, path)
    return paths


def first_stage(body: Tensors, image: np.ndarray) -> np.ndarray:
    """Convolution 11 with stride 4 and two zeros around, rectified, in float64."""
    x = (2.0 * image - 1.0 - np.array([-0.030, -0.088, -0.188])[:, None, None]) / np.array([0.458, 0.448, 0.450])[:, None, None]
    x = np.pad(x, [(0, 0), (2, 2), (2, 2)])
    weight, bias = body["features.0.weight"].double().numpy(), body["features.0.bias"].double().numpy()
    maps = [correlate(x, kernel, mode="valid")[0, ::4, ::4] + shift for kernel, shift in zip(weight, bias, strict=True)]
    stage = np.maximum(np.stack(maps), 0.0)
    return np.asarray(stage / np.sqrt(np.square(stage).sum(axis=0)))


def test_first_stage_against_brute_force(tmp_path: Path) -> None:
    body, top = made_up()
    for stage in range(1, 5):
        top[f"lin{stage}.model.1.weight"].zero_()
    a, b = stream(0, "lpips").uniform((2, 3, 64, 64)).astype(np.float32)
    found = paired_distances(load(*saved(tmp_path, body, top)), a[None], b[None, None], 1)[0, 0]
    difference = first_stage(body, a.astype(np.float64)) - first_stage(body, b.astype(np.float64))
    expected = (np.square(difference) * top["lin0.model.1.weight"].numpy()[0]).sum(axis=0).mean()
    assert found == pytest.approx(expected, rel=1e-4)


def test_all_stages_add_up_and_files_are_named_by_digest(tmp_path: Path) -> None:
    body, top = made_up()
    pair = stream(1, "lpips").uniform((2, 1, 3, 64, 64)).astype(np.float32)
    feature = load(*saved(tmp_path, body, top))
    whole = paired_distances(feature, pair[0], pair[1:], 1)[0, 0]
    parts = []
    for kept in range(5):
        single = {name: item if name.startswith(f"lin{kept}") else torch.zeros_like(item) for name, item in top.items()}
        other = load(*saved(tmp_path, body, single))
        assert other.digest != feature.digest
        parts.append(paired_distances(other, pair[0], pair[1:], 1)[0, 0])
    assert min(parts) > 0.0
    assert whole == pytest.approx(sum(parts), rel=1e-5)
    assert feature.name == "lpips_torchvision"


@pytest.mark.parametrize("fault", ["missing", "shape", "negative", "absent"])
def test_other_files_are_refused(fault: str, tmp_path: Path) -> None:
    body, top = made_up()
    if fault == "missing":
        del body["features.8.bias"]
    if fault == "shape":
        body["features.3.weight"] = body["features.3.weight"][:, :3]
    if fault == "negative":
        top["lin2.model.1.weight"][0, 0] = -0.1
    trunk, heads = saved(tmp_path, body, top)
    sentence = {"missing": "features.8.bias is missing", "shape": "features.3.weight", "negative": "negative", "absent": "cannot be read"}
    with pytest.raises(AuditError, match=sentence[fault]):
        load(trunk, tmp_path / "absent.pth" if fault == "absent" else heads)
