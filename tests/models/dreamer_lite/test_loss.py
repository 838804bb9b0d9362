"""The loss: its KL rule, its balance of gradients, what each likelihood counts, and that members never mix."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import bernoulli, norm
from torch import Tensor
from torch.distributions import Independent, Normal
from torch.distributions import kl_divergence as reference

from wm_audit.core import stream
from wm_audit.models.dreamer_lite import Config
from wm_audit.models.dreamer_lite.cell import Gaussian, bounded, decoder_tokens, head, prior
from wm_audit.models.dreamer_lite.columns import embed_columns, token_columns
from wm_audit.models.dreamer_lite.image_loss import squared_error, weighted_loss
from wm_audit.models.dreamer_lite.layout import layout, unpack
from wm_audit.models.dreamer_lite.loss import KL_RULE, Losses, Sequences, balanced_kl, kl_divergence, losses, unroll

Make = Callable[..., Any]


def gaussian(name: str, k: int = 2, n: int = 5, d: int = 4) -> Gaussian:
    mean = torch.from_numpy(stream(9, name, "mean").normal((k, n, d)))
    return Gaussian(mean.requires_grad_(), torch.from_numpy(stream(9, name, "std").uniform((k, n, d), 0.1, 2.0)).requires_grad_())


def apart(nats: list[float]) -> tuple[Gaussian, Gaussian]:
    """A posterior that is the given nats away from a standard prior, (1, N, 2)."""
    mean = torch.tensor(nats, dtype=torch.float64).sqrt()[None, :, None].expand(1, -1, 2).contiguous()
    ones = torch.ones_like(mean)
    return Gaussian(mean.requires_grad_(), ones.clone().requires_grad_()), Gaussian(torch.zeros_like(mean), ones.clone())


def test_kl_is_that_of_torch() -> None:
    q, p = gaussian("q"), gaussian("p")
    expected = reference(Independent(Normal(*q), 1), Independent(Normal(*p), 1))
    torch.testing.assert_close(kl_divergence(q, p), expected, rtol=1e-12, atol=1e-12)
    assert torch.equal(kl_divergence(q, q), torch.zeros(2, 5, dtype=torch.float64))


def test_k18_free_nats_enter_before_the_average(make_config: Make) -> None:
    """KL of (0, 4) with 2 free nats: the mean of (2, 4), which is 3; after averaging it would be max(2, 2) = 2."""
    config = make_config(free_nats=2.0, kl_dynamics=1.0, kl_representation=0.0)
    q, p = apart([0.0, 4.0])
    torch.testing.assert_close(kl_divergence(q, p), torch.tensor([[0.0, 4.0]], dtype=torch.float64))
    loss, raw = balanced_kl(q, p, config)
    assert float(loss.detach()) == pytest.approx(3.0)
    assert float(raw) == pytest.approx(2.0)
    assert KL_RULE == "free nats are applied to the KL of each time step, summed over the latent, before averaging over time and batch"


def test_k18_free_nats_are_free(make_config: Make) -> None:
    """Below the limit nothing pulls; above it the pull does not depend on the limit. The limit is on the sum over the latent."""
    for free, nats, pulls in ((2.0, 1.9, False), (2.0, 2.1, True), (0.0, 0.5, True)):
        q, p = apart([nats])
        (gradient,) = torch.autograd.grad(balanced_kl(q, p, make_config(free_nats=free))[0].sum(), [q.mean])
        assert bool(gradient.abs().max() > 0) == pulls
    gradients = []
    for free in (0.0, 2.0):
        q, p = apart([3.0])
        gradients.append(torch.autograd.grad(balanced_kl(q, p, make_config(free_nats=free))[0].sum(), [q.mean])[0])
    assert torch.equal(*gradients)


def test_the_balance_pulls_the_prior_and_the_posterior_apart_from_each_other(make_config: Make) -> None:
    """kl_dynamics moves the prior alone, kl_representation the posterior alone, each in proportion to its weight."""

    def pulls(dynamics: float, representation: float) -> tuple[Tensor, ...]:
        q, p = gaussian("q"), gaussian("p")
        config = make_config(free_nats=0.0, kl_dynamics=dynamics, kl_representation=representation)
        loss = balanced_kl(q, p, config)[0].sum()
        return torch.autograd.grad(loss, [q.mean, q.std, p.mean, p.std], allow_unused=True, materialize_grads=True)

    q, p = gaussian("q"), gaussian("p")
    full = torch.autograd.grad(kl_divergence(q, p).mean(dim=1).sum(), [q.mean, q.std, p.mean, p.std])
    for dynamics, representation in ((1.0, 0.0), (0.0, 1.0), (1.0, 0.3)):
        weights = (representation, representation, dynamics, dynamics)
        for found, whole, weight in zip(pulls(dynamics, representation), full, weights, strict=True):
            torch.testing.assert_close(found, weight * whole, rtol=1e-12, atol=1e-14)


def test_every_part_is_what_its_distribution_says(make_config: Make, parameters: Make, sequences: Make) -> None:
    """Image, reward and continue likelihoods against scipy, by loops over members; unweighted pixels, so that the total is their sum."""
    config = make_config(variance_beta=0.0)
    flat, batch = parameters(config, dtype=torch.float64), sequences(config)
    found, weights = losses(flat, batch, config), unpack(flat, config)
    k, steps, size, _ = batch.action.shape
    hidden, sample, belief = unroll(embed_columns(batch.rows, weights), batch, weights, config)
    hidden = hidden.view(k, steps * size, -1)
    features = torch.cat([hidden, sample.view(k, steps * size, -1)], dim=-1)
    z = decoder_tokens(features, weights).view(k, steps * size, config.patches, -1)
    picture = torch.einsum("knpw,kwv->kpnv", z, weights["decoder.patch_w"]) + weights["decoder.patch_b"].unsqueeze(2)
    for m in range(k):
        spread = np.exp(0.5 * bounded(weights["decoder.variance_b"][m], config.log_variance).numpy())[:, None]
        nats = -norm.logpdf(batch.rows[m].numpy(), picture[m].numpy(), np.broadcast_to(spread, picture[m].shape)).sum() / (steps * size)
        assert float(found.image[m]) == pytest.approx(nats, rel=1e-9)
        arrived = batch.keep[m, ..., 0].numpy() > 0
        spread_r = float(torch.exp(0.5 * bounded(weights["reward.variance_b"][m], config.log_variance)))
        guess = head(features, weights, "reward")[m].view(steps, size).numpy()
        nats = -norm.logpdf(batch.reward[m].numpy(), guess, spread_r)[arrived].mean()
        assert float(found.reward[m]) == pytest.approx(nats, rel=1e-9)
        logits = head(features, weights, "continue")[m].numpy()
        nats = -bernoulli.logpmf(1 - batch.terminal[m].reshape(-1).numpy().astype(int), 1 / (1 + np.exp(-logits))).mean()
        assert float(found.continues[m]) == pytest.approx(nats, rel=1e-9)
    expected, raw = balanced_kl(belief, prior(hidden, weights, config.min_std), config)
    torch.testing.assert_close(found.kl, raw)
    total = found.image + config.reward_scale * found.reward + config.continue_scale * found.continues + expected
    torch.testing.assert_close(found.total, total, rtol=1e-12, atol=1e-9)
    torch.testing.assert_close(found.means, belief.mean)


@pytest.mark.parametrize("beta", [0.5, 1.0])
def test_weighted_pixels_change_the_total_and_not_the_report(beta: float, make_config: Make, parameters: Make, sequences: Make) -> None:
    """What is reported stays the likelihood in nats, whatever is trained on."""
    plain, config = make_config(variance_beta=0.0), make_config(variance_beta=beta)
    flat, batch = parameters(config, dtype=torch.float64), sequences(config)
    one, other = losses(flat, batch, plain), losses(flat, batch, config)
    for name in ("image", "reward", "continues", "kl", "means"):
        assert torch.equal(getattr(one, name), getattr(other, name)), name
    weights = unpack(flat, config)
    spreads = bounded(weights["decoder.variance_b"], config.log_variance)
    k, steps, size, _ = batch.action.shape
    hidden, sample, _ = unroll(embed_columns(batch.rows, weights), batch, weights, config)
    features = torch.cat([hidden, sample], dim=-1).view(k, steps * size, -1)
    error = squared_error(
        batch.rows, token_columns(features, weights, config.patches), weights["decoder.patch_w"], weights["decoder.patch_b"]
    )
    expected = one.total - one.image + weighted_loss(error, spreads, steps * size, beta)
    torch.testing.assert_close(other.total, expected, rtol=1e-9, atol=1e-9)


def test_a_start_has_no_reward_to_learn(config: Config, parameters: Make, sequences: Make) -> None:
    """Whatever stands in the reward of a first observation, and in a batch of nothing but first ones the part is 0."""
    flat, batch = parameters(config, dtype=torch.float64), sequences(config)
    reward = torch.where(batch.keep[..., 0] == 0, 77.0, batch.reward)
    assert torch.equal(losses(flat, batch, config).total, losses(flat, batch._replace(reward=reward), config).total)
    starts = losses(flat, batch._replace(keep=torch.zeros_like(batch.keep)), config)
    assert torch.equal(starts.reward, torch.zeros(3, dtype=torch.float64))
    assert bool(torch.isfinite(starts.total).all())


def test_a_members_loss_knows_nothing_of_the_others(config: Config, parameters: Make, sequences: Make) -> None:
    """The gradient of member i's loss with respect to member j's parameters is exactly zero, and every parameter of i is reached."""
    flat, batch = parameters(config, dtype=torch.float64).requires_grad_(), sequences(config)
    total = losses(flat, batch, config).total
    for i in range(3):
        (gradient,) = torch.autograd.grad(total[i], [flat], retain_graph=True)
        others = [j for j in range(3) if j != i]
        assert torch.equal(gradient[others], torch.zeros_like(gradient[others]))
        for name, part in unpack(gradient, config).items():
            assert bool((part[i] != 0).any()), name


def test_members_together_are_members_alone(config: Config, parameters: Make, sequences: Make) -> None:
    """Losses and gradients of three, of each alone, and of the three in another order."""
    flat, batch = parameters(config, dtype=torch.float64), sequences(config)

    def both(members: list[int]) -> tuple[Tensor, Tensor]:
        leaf = flat[members].clone().requires_grad_()
        total = losses(leaf, Sequences(*(item[members] for item in batch)), config).total
        return total.detach(), torch.autograd.grad(total.sum(), [leaf])[0]

    total, gradient = both([0, 1, 2])
    for members in ([0], [1], [2], [2, 0, 1], [1, 2]):
        alone, pull = both(members)
        torch.testing.assert_close(alone, total[members], rtol=1e-12, atol=1e-9)
        torch.testing.assert_close(pull, gradient[members], rtol=1e-9, atol=1e-9)


def test_a_broken_member_breaks_alone(config: Config, parameters: Make, sequences: Make) -> None:
    flat, batch = parameters(config), sequences(config, dtype=torch.float32)
    reward = batch.reward.clone()
    reward[1] = float("nan")
    leaf = flat.clone().requires_grad_()
    found = losses(leaf, batch._replace(reward=reward), config)
    assert torch.isfinite(found.total).tolist() == [True, False, True]
    (gradient,) = torch.autograd.grad(found.total.sum(), [leaf])
    assert torch.isfinite(gradient).all(dim=1).tolist() == [True, False, True]


@pytest.mark.parametrize("variance", ["pixel", "scalar"])
def test_the_whole_gradient_is_that_of_finite_differences(variance: str, make_config: Make, parameters: Make, sequences: Make) -> None:
    """Of the loss without the KL's stopped gradients, along random directions."""
    config = make_config(variance=variance, variance_beta=0.0, kl_dynamics=0.0, kl_representation=0.0, image=(1, 4, 4), patch=2)
    flat, batch = parameters(config, 2, torch.float64).requires_grad_(), sequences(config, members=2, steps=3, batch=2)
    (gradient,) = torch.autograd.grad(losses(flat, batch, config).total.sum(), [flat])
    for i in range(3):
        direction = torch.from_numpy(stream(10, "direction", i).normal(tuple(flat.shape)))
        step = 1e-6 * direction
        up, down = (losses((flat + sign * step).detach(), batch, config).total.sum() for sign in (1.0, -1.0))
        assert float((up - down) / 2e-6) == pytest.approx(float((gradient * direction).sum()), rel=1e-5)


def test_only_the_total_carries_gradients(config: Config, parameters: Make, sequences: Make) -> None:
    found = losses(parameters(config).requires_grad_(), sequences(config, dtype=torch.float32), config)
    assert [name for name in Losses._fields if getattr(found, name).requires_grad] == ["total"]
    assert len(layout(config)) == len(unpack(parameters(config), config))
