"""A name gives the same numbers on every machine, version and number of workers; no name disturbs another."""

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from wm_audit.core import Stream, stream

# Made by this code under numpy 2.4 and confirmed by `pcg64` below, which shares nothing with numpy but the seeding.
WORDS = [0x1D9E2465C3EA60E7, 0xFB8C2608B2DDF16B, 0x873E950BFA696037]
UNIFORM = [0.11569430813316606, 0.9826072474705752, 0.5282986788028317, 0.9082738061269668]
NORMAL = [-0.4576347455630945, -1.2763415749372415, 0.7563769890754937, -1.8195899708503036]
INTEGERS = [1, 9, 5, 9, 4, 6, 8, 4, 2, 3, 3, 3]
PERMUTATION = [0, 8, 9, 7, 4, 2, 5, 6, 3, 1]

names = st.lists(st.one_of(st.integers(-(2**70), 2**70), st.text(max_size=5)), max_size=4)


def golden() -> Stream:
    return stream(20, "collect", "pixel_nav", 0)


def pcg64(state: int, increment: int, count: int) -> list[int]:
    """PCG XSL RR 128/64 in plain integers (O'Neill 2014, section 6.3.3)."""
    words = []
    for _ in range(count):
        state = (state * 0x2360ED051FC65DA44385DF649FCCF645 + increment) % 2**128
        folded, turn = (state >> 64) ^ (state % 2**64), state >> 122
        words.append(((folded >> turn) | (folded << (64 - turn))) % 2**64)
    return words


def test_golden_values() -> None:
    assert golden().words(3).tolist() == WORDS
    assert golden().uniform(4).tolist() == UNIFORM
    assert golden().normal(4).tolist() == pytest.approx(NORMAL, rel=1e-14)  # cos and log may differ in the last bit between machines
    assert golden().integers(10, 12).tolist() == INTEGERS
    assert golden().permutation(10).tolist() == PERMUTATION
    assert golden().seed() == 1067091646458703987 == WORDS[0] >> 1
    assert stream(20, "ä\u2028", 3).seed() == 3593916224961422925


def test_words_are_those_of_the_published_generator() -> None:
    state = np.random.PCG64(0x0123456789ABCDEF).state["state"]
    assert np.random.PCG64(0x0123456789ABCDEF).random_raw(5).tolist() == pcg64(state["state"], state["inc"], 5)
    state = golden()._bits.state["state"]
    assert pcg64(int(state["state"]), int(state["inc"]), 3) == WORDS


def test_uniforms_are_the_upper_53_bits() -> None:
    assert [int(word) >> 11 for word in golden().words(4)] == [int(item * 2**53) for item in golden().uniform(4)]


def test_normals_are_box_and_muller() -> None:
    draws = golden()
    first, second = draws.uniform(4), draws.uniform(4)
    expected = [math.sqrt(-2 * math.log1p(-a)) * math.cos(2 * math.pi * b) for a, b in zip(first, second, strict=True)]
    assert golden().normal(4).tolist() == pytest.approx(expected, rel=1e-15, abs=1e-15)


@given(names)
def test_one_name_one_sequence(name: list[int | str]) -> None:
    assert stream(1, *name).words(4).tolist() == stream(1, *name).words(4).tolist()


@given(names, names)
def test_another_name_another_sequence(one: list[int | str], two: list[int | str]) -> None:
    if one != two:
        assert stream(1, *one).words(2).tolist() != stream(1, *two).words(2).tolist()


def test_names_do_not_run_together() -> None:
    """The separators of a name are not characters of it."""
    seeds = {
        stream(1, *name).seed() for name in [("a", "b"), ("ab",), ("a,b",), ('a","b',), ("a", "b", ""), (1,), ("1",), (-1,), (1, 1), (11,)]
    }
    assert len(seeds) == 10
    assert stream(11).seed() != stream(1, 1).seed()


def test_shapes_take_consecutive_words() -> None:
    whole, pieces = golden(), golden()
    expected = whole.words(24)
    assert np.concatenate([pieces.words((2, 3)).ravel(), pieces.words((3, 6)).ravel()]).tolist() == expected.tolist()
    assert golden().words((0, 5)).shape == (0, 5)
    assert golden().words(()).shape == ()
    assert golden().uniform((2, 3)).shape == (2, 3)


def test_children_do_not_advance_their_parent() -> None:
    parent = golden()
    child = parent.child("act", 3)
    child.words(100)
    assert parent.words(3).tolist() == WORDS
    assert child.name == (20, "collect", "pixel_nav", 0, "act", 3)
    assert parent.child("act", 3).words(2).tolist() == stream(*child.name).words(2).tolist()


def test_k34_fresh_processes_agree() -> None:
    """CenterNet#233: nothing is inherited from a parent, so workers can neither share nor shift numbers."""
    code = "from wm_audit.core import stream; print(stream(20, 'collect', 'pixel_nav', 0).words(3).tolist())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(WORDS)


def test_nothing_global_is_touched() -> None:
    before = pickle.dumps(np.random.get_state())  # noqa: NPY002 - the very thing that must stay as it is
    golden().normal(10)
    assert pickle.dumps(np.random.get_state()) == before  # noqa: NPY002 - as above


def test_distributions() -> None:
    """Kolmogorov and Smirnov against the named laws; the draws are fixed, so this cannot fail by chance."""
    assert stats.kstest(stream(1, "uniform").uniform(20_000), "uniform").pvalue > 0.01
    assert stats.kstest(stream(1, "normal").normal(20_000), "norm").pvalue > 0.01
    counts = np.bincount(stream(1, "integers").integers(7, 21_000), minlength=7)
    assert stats.chisquare(counts).pvalue > 0.01
    first = [int(stream(1, "order", i).permutation(4)[0]) for i in range(4000)]
    assert stats.chisquare(np.bincount(first, minlength=4)).pvalue > 0.01
    one, two = stream(1, "independent").normal((2, 20_000))
    assert abs(stats.pearsonr(one, two).statistic) < 0.02


def test_uniform_bounds() -> None:
    draws = stream(1, "bounds").uniform(1000, -2.0, 3.0)
    assert draws.min() >= -2
    assert draws.max() < 3
    assert np.isfinite(stream(1, "finite").normal(100_000)).all()


@given(st.integers(1, 50), st.integers(0, 60))
def test_integers_and_permutations_stay_inside(high: int, n: int) -> None:
    draws = stream(2, "inside").integers(high, 40)
    assert draws.dtype == np.int64
    assert ((draws >= 0) & (draws < high)).all()
    assert sorted(stream(2, "order").permutation(n).tolist()) == list(range(n))


@pytest.mark.parametrize("high", [0, -3])
def test_no_integers_below_nothing(high: int) -> None:
    with pytest.raises(ValueError, match="high must be at least 1"):
        golden().integers(high, 3)


def test_seeds_fit_a_foreign_generator() -> None:
    seeds = [stream(1, "seed", i).seed() for i in range(200)]
    assert len(set(seeds)) == 200
    assert all(0 <= seed < 2**63 for seed in seeds)
