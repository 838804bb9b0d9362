"""The numbers of seeds that pages name are those from which the statistics begin to give something."""

import numpy as np
import pytest

from wm_audit.board.words import counted, least_for_contrast, no_estimate, no_interval
from wm_audit.core import Reason
from wm_audit.stats import hartigan_interval, jackknife_z, within_capacity_rho
from wm_audit.verdict.deltas import seed_sd


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (1, "seed", "1 seed"),
        (0, "seed", "0 seeds"),
        (2, "capacity", "2 capacities"),
        (1, "capacity", "1 capacity"),
        (3, "results file", "3 results files"),
    ],
)
def test_plurals(count: int, noun: str, text: str) -> None:
    assert counted(count, noun) == text


@pytest.mark.parametrize("level", [0.5, 0.8, 0.875, 0.9, 0.95, 0.99])
def test_the_least_seeds_of_a_contrast_are_those_of_its_interval(level: float) -> None:
    alpha, least = round((1.0 - level) / 2.0, 12), least_for_contrast(level)
    assert hartigan_interval(np.arange(1.0, least), alpha).reason is Reason.TOO_FEW_SEEDS
    assert hartigan_interval(np.arange(1.0, least + 1), alpha).bounds is not None
    assert no_interval("too_few_seeds", least - 1, level=level, contrast=True).endswith(f"needs at least {least}")


def test_the_least_seeds_of_a_correlation_are_those_of_the_statistics() -> None:
    x = [[float(seed * seed % 5)] for seed in range(5)]
    y = [[float(seed * 3 % 5)] for seed in range(5)]
    for least, reason in ((3, within_capacity_rho(x[:2], y[:2]).reason), (4, jackknife_z(x[:3], y[:3]).reason)):
        assert reason is Reason.TOO_FEW_SEEDS
        said = no_estimate(reason, 2) if least == 3 else no_interval(reason, 3, level=0.9)
        assert said == f"{least - 1} complete seeds; {'an estimate' if least == 3 else 'an interval'} needs at least {least}"
    assert within_capacity_rho(x[:3], y[:3]).value is not None
    assert jackknife_z(x, y).reason is not Reason.TOO_FEW_SEEDS


def test_the_least_seeds_of_a_scale() -> None:
    assert seed_sd(np.array([[1.0]]), 1e-12) == (None, Reason.TOO_FEW_SEEDS)
    assert seed_sd(np.array([[1.0], [2.0]]), 1e-12)[0] is not None
    assert no_estimate("too_few_seeds", 1, contrast=True) == "1 complete seed; an estimate needs at least 2"
    assert seed_sd(np.array([[0.0], [1e-200]]), 1e-12) == (None, Reason.NO_SPREAD)  # its square is 0


def test_other_codes_keep_their_sentence_and_a_count_is_never_contradicted() -> None:
    assert no_estimate("coverage", 2) == Reason.COVERAGE.sentence
    assert no_estimate("too_few_seeds", 9) == Reason.TOO_FEW_SEEDS.sentence
    assert no_estimate("constant_y", 5) == "the return has one value in all models, so nothing can predict it"
    assert no_estimate("no_finite_pairs", 5, contrast=True) == Reason.NO_FINITE_PAIRS.sentence
    assert no_estimate(None, 5) == Reason.NOT_MEASURED.sentence
