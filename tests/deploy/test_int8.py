"""Quantised products are integer arithmetic, per output channel and per row."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from torch import Tensor

from wm_audit.core import stream
from wm_audit.deploy.int8 import EXACT_FLOAT32, LEVELS, Int8Matrix, int8_product, quantise, quantise_rows, quantised_share

SINGLES = hnp.arrays(
    np.float32,
    hnp.array_shapes(min_dims=3, max_dims=3, max_side=6),
    elements=st.one_of(st.just(0.0), st.floats(-(2.0**20), 2.0**20, width=32).filter(lambda x: abs(x) > 1e-20)),
)


def normal(name: str, *shape: int) -> Tensor:
    return torch.from_numpy(stream(4, name).normal(shape)).float()


def by_integers(x: Tensor, matrix: Int8Matrix) -> NDArray[np.float32]:
    """The product in int64, then both scales in the precision of the sums."""
    integers, scale = quantise_rows(x)
    sums = integers.numpy().astype(np.int64) @ matrix.values.numpy().astype(np.int64)
    kind = np.float32 if x.shape[-1] * LEVELS**2 < EXACT_FLOAT32 else np.float64
    assert np.array_equal(sums.astype(kind).astype(np.int64), sums)
    product: NDArray[np.float32] = (sums.astype(kind) * scale.numpy() * matrix.scale.numpy()).astype(np.float32)
    return product


@settings(max_examples=40, deadline=None)
@given(weight=SINGLES)
def test_a_weight_is_never_farther_than_half_a_step(weight: NDArray[np.float32]) -> None:
    matrix = Int8Matrix.of(torch.from_numpy(weight))
    step = matrix.scale.numpy().astype(np.float64)
    away = np.abs(weight.astype(np.float64) - matrix.values.numpy().astype(np.float64) * step)
    assert np.all(away <= step * (0.5 + 1e-4) * (np.abs(weight) > 0))
    assert int(matrix.values.abs().max()) <= LEVELS
    peak = np.abs(weight).max(axis=1, keepdims=True)
    np.testing.assert_allclose(step, np.where(peak > 0, peak / LEVELS, 1.0), rtol=1e-6)
    assert np.all(np.abs(matrix.values.numpy()).max(axis=1, keepdims=True)[peak > 0] == LEVELS)  # no level is wasted


@settings(max_examples=40, deadline=None)
@given(x=SINGLES, out=st.integers(1, 5), root=st.integers(0, 2**32))
def test_products_are_integer_arithmetic(x: NDArray[np.float32], out: int, root: int) -> None:
    rows = torch.from_numpy(x)
    matrix = Int8Matrix.of(torch.from_numpy(stream(root).normal((x.shape[0], x.shape[2], out))).float())
    np.testing.assert_array_equal(int8_product(rows, matrix).numpy(), by_integers(rows, matrix))


@pytest.mark.parametrize("width", [1, 64, 1040, 1041, 2000])
@pytest.mark.parametrize("saturated", [False, True])
def test_wide_products_lose_no_unit(width: int, *, saturated: bool) -> None:
    """Up to the last width that fits float32, and beyond it; with every number at the end of its range, sums are the largest."""
    x, weight = normal("x", 2, 5, width), normal("w", 2, width, 3)
    if saturated:
        x, weight = torch.ones_like(x), torch.ones_like(weight)
        weight[..., 1] = -1.0
        x[:, 1:, 0], weight[:, 0, 2] = 126 / 127, 126 / 127  # odd sums
    matrix = Int8Matrix.of(weight)
    assert matrix.factor.dtype == (torch.float32 if width <= 1040 else torch.float64)
    np.testing.assert_array_equal(int8_product(x, matrix).numpy(), by_integers(x, matrix))
    if saturated:
        largest = float(int8_product(x, matrix)[0, 0, 0])
        assert largest == pytest.approx(width, rel=1e-6)


def test_a_product_is_near_the_float_one() -> None:
    x, weight = normal("x", 3, 6, 200), normal("w", 3, 200, 8)
    exact = torch.bmm(x, weight)
    error = int8_product(x, Int8Matrix.of(weight)) - exact
    assert 0.0 < float(error.norm() / exact.norm()) < 0.02


def test_every_row_has_its_own_scale() -> None:
    x, matrix = normal("x", 2, 4, 30), Int8Matrix.of(normal("w", 2, 30, 5))
    louder = x.clone()
    louder[:, 1] *= 64.0
    plain, other = int8_product(x, matrix), int8_product(louder, matrix)
    assert torch.equal(plain[:, [0, 2, 3]], other[:, [0, 2, 3]])
    assert torch.equal(64.0 * plain[:, 1], other[:, 1])
    assert quantise_rows(x)[1].shape == (2, 4, 1)


def test_every_output_channel_of_every_member_has_its_own_scale() -> None:
    x, weight = normal("x", 2, 4, 30), normal("w", 2, 30, 5)
    louder = weight.clone()
    louder[1, :, 3] *= 1024.0
    plain, other = Int8Matrix.of(weight), Int8Matrix.of(louder)
    assert torch.equal(plain.values, other.values)
    assert plain.scale.shape == (2, 1, 5)
    ratio = int8_product(x, other) / int8_product(x, plain)
    expected = torch.ones_like(ratio)
    expected[1, :, 3] = 1024.0
    assert torch.equal(ratio, expected)


def test_rows_and_channels_of_zeros_give_zeros() -> None:
    x, weight = normal("x", 2, 4, 30), normal("w", 2, 30, 5)
    x[:, 2], weight[:, :, 1] = 0.0, 0.0
    matrix = Int8Matrix.of(weight)
    assert float(matrix.scale[0, 0, 1]) == float(quantise_rows(x)[1][0, 2, 0]) == 1.0
    product = int8_product(x, matrix)
    assert not product[:, 2].any()
    assert not product[:, :, 1].any()
    assert bool(torch.isfinite(product).all())
    assert bool((product[:, [0, 1, 3]][..., [0, 2, 3, 4]] != 0).any())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_broken_row_stays_broken_and_alone(value: float) -> None:
    """A number that is none cannot be quantised away."""
    x, matrix = normal("x", 2, 4, 30), Int8Matrix.of(normal("w", 2, 30, 5))
    spoilt = x.clone()
    spoilt[0, 1, 7] = value
    product = int8_product(spoilt, matrix)
    assert not torch.isfinite(product[0, 1]).any()
    keep = torch.ones(2, 4, dtype=torch.bool)
    keep[0, 1] = False
    assert torch.equal(product[keep], int8_product(x, matrix)[keep])


def test_rounding_is_half_to_even_and_symmetric() -> None:
    row = torch.tensor([[[127.0, 0.5, 1.5, 2.5, -0.5, -1.5, -127.0]]])
    assert quantise_rows(row)[0].tolist() == [[[127.0, 0.0, 2.0, 2.0, 0.0, -2.0, -127.0]]]
    assert Int8Matrix.of(row.transpose(1, 2)).values[0, :, 0].tolist() == [127, 0, 2, 2, 0, -2, -127]


def test_some_paths_may_stay_in_float() -> None:
    weights: dict[str, Any] = {"a.in_w": normal("w", 2, 3, 4), "a.in_b": normal("b", 2, 4), "b.in_w": normal("v", 2, 3, 4)}
    chosen = quantise(weights, ("b",))
    assert chosen["a.in_w"] is weights["a.in_w"]
    assert chosen["a.in_b"] is weights["a.in_b"]
    assert isinstance(chosen["b.in_w"], Int8Matrix)
    assert torch.equal(int8_product(normal("x", 2, 5, 3), chosen["a.in_w"]), torch.bmm(normal("x", 2, 5, 3), weights["a.in_w"]))
    assert quantised_share(chosen) == {"a": 0.0, "b": 1.0}
    assert quantised_share(quantise(weights)) == {"a": 12 / 16, "b": 1.0}
    assert quantised_share(weights) == {"a": 0.0, "b": 0.0}
