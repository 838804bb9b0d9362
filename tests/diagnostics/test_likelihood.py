import numpy as np
import pytest
import torch
from scipy.stats import norm

from wm_audit.diagnostics.likelihood import gaussian_nll


def test_equals_scipys_normal_density() -> None:
    noise = torch.Generator().manual_seed(0)
    mean, log_variance = (torch.randn(2, 3, 3, 4, 5, generator=noise) for _ in range(2))
    truth = torch.rand(3, 3, 4, 5, generator=noise)
    expected = -norm.logpdf(truth.double().numpy(), mean.double().numpy(), np.exp(0.5 * log_variance.double().numpy())).mean(axis=(2, 3, 4))
    assert gaussian_nll(mean, log_variance, truth).numpy() == pytest.approx(expected, rel=1e-12)


def test_a_confident_error_costs_more_than_a_humble_one() -> None:
    truth, mean = torch.zeros(1, 1, 1, 1), torch.full((1, 1, 1, 1, 1), 0.5)
    confident, humble = (gaussian_nll(mean, torch.full_like(mean, v), truth).item() for v in (-6.0, -1.0))
    assert confident > humble


def test_the_best_variance_is_the_squared_error() -> None:
    truth, mean = torch.zeros(1, 1, 1, 1), torch.full((1, 1, 1, 1, 1), 0.5)
    best = np.log(0.25)
    losses = [gaussian_nll(mean, torch.full_like(mean, float(best + d)), truth).item() for d in (-0.1, 0.0, 0.1)]
    assert losses[1] < min(losses[0], losses[2])
