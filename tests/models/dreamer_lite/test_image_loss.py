"""The image likelihood that never writes a picture is the one that does."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from torch import Tensor

from wm_audit.core import stream
from wm_audit.models.dreamer_lite import Config
from wm_audit.models.dreamer_lite.image_loss import negative_log_likelihood, squared_error, weighted_loss

Args = tuple[Tensor, Tensor, Tensor, Tensor]


def arguments(k: int, p: int, n: int, v: int, w: int) -> Args:
    """Pictures (K, P, N, V), tokens (K, N, P*W), weight (K, W, V) and bias (K, P, V)."""

    def draw(name: str, *shape: int) -> Tensor:
        return torch.from_numpy(stream(5, name).normal(shape))

    return 0.3 * draw("rows", k, p, n, v), draw("tokens", k, p, w, n), draw("weight", k, w, v), draw("bias", k, p, v)


def plain(rows: Tensor, tokens: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Decode every pixel, subtract, square, add up: by loops over members and patches."""
    k, p, _, _ = rows.shape
    out = []
    for i in range(k):
        patches = [((tokens[i, j].T @ weight[i] + bias[i, j] - rows[i, j]) ** 2).sum(dim=0) for j in range(p)]
        out.append(torch.stack(patches))
    return torch.stack(out)


@settings(max_examples=15, deadline=None)
@given(k=st.integers(1, 3), p=st.integers(1, 5), n=st.integers(1, 9), v=st.integers(1, 12), w=st.integers(1, 6))
def test_the_sum_of_squares_is_the_plain_one(k: int, p: int, n: int, v: int, w: int) -> None:
    args = arguments(k, p, n, v, w)
    torch.testing.assert_close(squared_error(*args), plain(*args), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("n", [32, 512])
def test_in_single_precision_it_stays_within_a_ten_thousandth(n: int) -> None:
    args = arguments(3, 4, n, 192, 15)
    torch.testing.assert_close(single(args), plain(*args), rtol=1e-4, atol=0.0)


def test_a_single_picture_loses_no_more_than_the_rounding_of_its_parts() -> None:
    """One picture may be hit by chance, so its error is measured against what was subtracted, not against what is left."""
    rows, tokens, weight, bias = arguments(3, 4, 1, 192, 15)
    parts = plain(-rows.abs(), tokens.abs(), weight.abs(), bias.abs())
    lost = (single((rows, tokens, weight, bias)) - plain(rows, tokens, weight, bias)).abs()
    assert float((lost / parts).max()) < 1e-6


def single(args: Args) -> Tensor:
    """The sum computed in float32."""
    rows, tokens, weight, bias = (item.float() for item in args)
    return squared_error(rows, tokens, weight, bias).double()


def test_gradients_are_those_of_the_plain_sum() -> None:
    left = [item.clone().requires_grad_() for item in arguments(2, 4, 6, 12, 3)]
    right = [item.clone().requires_grad_() for item in arguments(2, 4, 6, 12, 3)]
    weights = torch.from_numpy(stream(6).uniform((2, 4, 12)))
    ours = torch.autograd.grad((squared_error(*left) * weights).sum(), left)
    theirs = torch.autograd.grad((plain(*right) * weights).sum(), right)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_gradients_are_those_of_finite_differences() -> None:
    args = [item.requires_grad_() for item in arguments(2, 2, 3, 4, 2)]
    assert torch.autograd.gradcheck(squared_error, args)


def test_a_perfect_picture_costs_no_visible_nats(make_config: Callable[..., Config]) -> None:
    """Where the squares cancel to nothing, the rounding left over is far below a nat at the least log-variance."""
    _, tokens, weight, bias = (item.float() for item in arguments(3, 4, 32, 192, 15))
    tokens, weight, bias = 0.3 * tokens, 0.2 * weight, 0.2 * bias
    rows = tokens.transpose(2, 3) @ weight.unsqueeze(1) + bias.unsqueeze(2)
    left = squared_error(rows, tokens, weight, bias).abs() / 32
    least = make_config().log_variance[0]
    assert float(left.max()) * np.exp(-least) < 1e-2  # nats of one of the pixels, doubled


@pytest.mark.parametrize("shape", [(4, 12), (1, 1)])
def test_nats_are_scipys(shape: tuple[int, int]) -> None:
    rows, tokens, weight, bias = arguments(2, 4, 6, 12, 3)
    log_variance = torch.from_numpy(stream(7).uniform((2, *shape), -3.0, 1.0))
    ours = negative_log_likelihood(squared_error(rows, tokens, weight, bias), log_variance, 6)
    decoded = torch.einsum("kpwn,kwv->kpnv", tokens, weight) + bias.unsqueeze(2)
    spread = np.broadcast_to(np.exp(0.5 * log_variance.numpy()), (2, 4, 12))[:, :, None]
    logpdf = norm.logpdf(rows.numpy(), loc=decoded.numpy(), scale=spread)
    np.testing.assert_allclose(ours.numpy(), -logpdf.sum(axis=(1, 2, 3)) / 6, rtol=1e-10)


def test_the_best_log_variance_is_the_log_of_the_mean_square() -> None:
    error = torch.from_numpy(stream(8).uniform((1, 2, 3), 0.5, 2.0))
    log_variance = torch.log(error / 10).requires_grad_()
    (gradient,) = torch.autograd.grad(negative_log_likelihood(error, log_variance, 10).sum(), [log_variance])
    torch.testing.assert_close(gradient, torch.zeros_like(gradient), rtol=0.0, atol=1e-12)


def spreads(*shape: int) -> Tensor:
    return torch.from_numpy(stream(9).uniform(shape, -6.0, 0.0))


@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("shape", [(4, 12), (1, 1)])
def test_pixels_weigh_their_variance_to_the_power_beta(beta: float, shape: tuple[int, int]) -> None:
    """By loops over members; the weights of a member average to 1, so one variance for all changes nothing."""
    error, log_variance = torch.from_numpy(stream(8).uniform((2, 4, 12), 0.5, 2.0)), spreads(2, *shape)
    found = weighted_loss(error, log_variance, 10, beta)
    for k in range(2):
        weight = np.exp(log_variance[k].numpy()) ** beta
        variance = np.exp(log_variance[k].numpy())
        nats = 0.5 * (np.log(2 * np.pi * variance) + error[k].numpy() / 10 / variance)
        assert float(found[k]) == pytest.approx((weight / weight.mean() * nats).sum(), rel=1e-10)
    if beta == 0.0 or shape == (1, 1):
        torch.testing.assert_close(found, negative_log_likelihood(error, log_variance, 10))


def test_at_beta_one_every_error_pulls_alike() -> None:
    """Whatever variance a pixel has, its error has one slope; at beta 0 a pixel that is not explained pulls less."""
    error, log_variance = torch.from_numpy(stream(8).uniform((2, 4, 12), 0.5, 2.0)).requires_grad_(), spreads(2, 4, 12)
    (alike,) = torch.autograd.grad(weighted_loss(error, log_variance, 10, 1.0).sum(), [error])
    torch.testing.assert_close(alike, alike[:, :1, :1].expand_as(alike))
    (plain,) = torch.autograd.grad(weighted_loss(error, log_variance, 10, 0.0).sum(), [error])
    torch.testing.assert_close(plain, 0.05 * torch.exp(-log_variance))


def test_weights_move_no_variance() -> None:
    """They are constants to the gradient: the best log-variance is still the log of the mean square."""
    error = torch.from_numpy(stream(8).uniform((1, 2, 3), 0.5, 2.0))
    log_variance = torch.log(error / 10).requires_grad_()
    (gradient,) = torch.autograd.grad(weighted_loss(error, log_variance, 10, 1.0).sum(), [log_variance])
    torch.testing.assert_close(gradient, torch.zeros_like(gradient), rtol=0.0, atol=1e-12)
