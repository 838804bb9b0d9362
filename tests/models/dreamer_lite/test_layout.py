"""One tensor holds every weight once, and a member's numbers come from its own stream alone."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from wm_audit.core import stream
from wm_audit.models.dreamer_lite import Config
from wm_audit.models.dreamer_lite.layout import PATHS, initialise, layout, size, unpack


@pytest.mark.parametrize("variance", ["pixel", "scalar"])
def test_every_column_belongs_to_exactly_one_weight(variance: str, make_config: Callable[..., Config]) -> None:
    config = make_config(variance=variance)
    columns = torch.arange(size(config), dtype=torch.float64).expand(2, -1)
    weights = unpack(columns, config)
    assert list(weights) == [entry.name for entry in layout(config)]
    assert len(weights) == len(layout(config))
    seen = torch.cat([item[0].reshape(-1) for item in weights.values()])
    assert torch.equal(seen.sort().values, columns[0])
    for entry in layout(config):
        assert weights[entry.name].shape == (2, *entry.shape)
        assert entry.path in PATHS
        assert entry.is_matrix == entry.name.endswith("_w") == (not entry.name.endswith("_b"))
        assert entry.size == weights[entry.name][0].numel()


def test_weights_are_views_so_gradients_flow_back(config: Config) -> None:
    flat = torch.zeros(2, size(config), requires_grad=True)
    weights = unpack(flat, config)
    (gradient,) = torch.autograd.grad(torch.stack([item.sum() for item in weights.values()]).sum(), [flat])
    assert torch.equal(gradient, torch.ones_like(flat))
    assert all(item.untyped_storage().data_ptr() == flat.untyped_storage().data_ptr() for item in weights.values())


def test_a_member_starts_from_its_own_stream_alone(config: Config) -> None:
    def drawn(*names: int) -> Tensor:
        return initialise(config, [stream(0, "initial", name) for name in names])

    three = drawn(0, 1, 2)
    assert torch.equal(three, drawn(0, 1, 2))
    assert torch.equal(three[[2, 0, 1]], drawn(2, 0, 1))
    for k in range(3):
        assert torch.equal(three[k : k + 1], drawn(k))
    assert torch.equal(drawn(0, 7)[0], three[0])
    matrices = torch.cat([item[:, :].reshape(3, -1) for name, item in unpack(three, config).items() if name.endswith("_w")], dim=1)
    correlation = np.corrcoef(matrices.numpy())
    assert np.abs(correlation[~np.eye(3, dtype=bool)]).max() < 5 / np.sqrt(matrices.shape[1])


def test_the_start_has_the_spread_that_keeps_activations(make_config: Callable[..., Config]) -> None:
    config = make_config(hidden=64, embed=64)
    weights = unpack(initialise(config, [stream(0, k) for k in range(3)]), config)
    for entry in layout(config):
        drawn = weights[entry.name].numpy()
        if entry.is_matrix and entry.size > 1000:
            assert drawn.std() * np.sqrt(entry.shape[0]) == pytest.approx(1.0, abs=0.08), entry.name
        if not entry.is_matrix:
            assert np.all(drawn == entry.fill), entry.name
