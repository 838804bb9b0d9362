"""By simulation: on a grid where capacity drives both sides and nothing else is going on, who sees an association?"""

import numpy as np

from wm_audit.core import Label, stream
from wm_audit.stats import block_permutation_test, equivalence, jackknife_z, spearman, t_approximation

REPETITIONS, LEVEL = 200, 0.05


def test_the_block_permutation_keeps_its_level_where_the_pooled_test_does_not() -> None:
    draws = stream(20, "simulation", "size")
    naive = block = 0
    for _ in range(REPETITIONS):
        capacity = 2.0 * np.arange(3)[None, :]
        seed_x, seed_y = draws.normal((5, 1)), draws.normal((5, 1))  # what a seed has in common over capacities
        x, y = (capacity + seed + draws.normal((5, 3)) for seed in (seed_x, seed_y))
        pooled = spearman(x.ravel(), y.ravel())
        p_naive, p_block = t_approximation(pooled.value, pooled.n).p, block_permutation_test(x, y).p
        naive += p_naive is not None and p_naive <= LEVEL
        block += p_block is not None and p_block <= LEVEL
    # Three standard errors of a share of .05 over 200 repetitions are .046.
    assert 0.005 < block / REPETITIONS < LEVEL + 0.046
    assert naive / REPETITIONS > 0.5


def test_twenty_seeds_decide_the_absence_of_an_association_and_five_do_not() -> None:
    def decided(seeds: int) -> float:
        draws = stream(21, "simulation", seeds)
        return float(
            np.mean(
                [
                    equivalence(jackknife_z(draws.normal((seeds, 3)), draws.normal((seeds, 3)), 0.90), 0.4) is Label.SUPPORTED
                    for _ in range(REPETITIONS)
                ]
            )
        )

    assert decided(20) > 0.7
    assert decided(5) < 0.1
