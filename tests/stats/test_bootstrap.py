"""Bootstrap intervals: against the definition on the same resamples, against scipy's, and where they must refuse."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from wm_audit.core import Reason, stream
from wm_audit.stats import bootstrap, correlation_bootstrap, kendall_tau_b, spearman
from wm_audit.stats.correlation_bootstrap import rho_rows, tau_rows

Floats = NDArray[np.float64]
few = settings(max_examples=20, deadline=None)
SKEWED = np.exp(stream(1, "skewed").normal(30))


def mean(values: Floats) -> Floats:
    return np.asarray(values.mean(axis=-1), dtype=np.float64)


def recorded(method: Any, **options: Any) -> tuple[Any, list[Floats]]:
    """The interval and every batch of values the statistic returned: estimate, resamples, leave-one-out sets."""
    batches: list[Floats] = []

    def statistic(values: Floats) -> Floats:
        batches.append(mean(values))
        return batches[-1]

    return bootstrap(statistic, SKEWED, stream=stream(2, "boot"), method=method, **options), batches


def test_percentile_bounds_are_quantiles_of_the_resamples() -> None:
    interval, batches = recorded("percentile", level=0.9)
    assert interval.bounds == pytest.approx(np.quantile(batches[1], [0.05, 0.95]), abs=1e-15)
    assert interval.se == pytest.approx(batches[1].std(ddof=1), rel=1e-12)
    assert (interval.resamples, interval.n_degenerate) == (2000, 0)


def test_bca_bounds_are_efrons() -> None:
    interval, (estimate, values, without) = recorded("bca")
    bias = scipy_stats.norm.ppf(np.mean(values < estimate[0]))
    influence = without.mean() - without
    acceleration = (influence**3).sum() / (6 * (influence**2).sum() ** 1.5)
    z = scipy_stats.norm.ppf([0.025, 0.975])
    tails = scipy_stats.norm.cdf(bias + (bias + z) / (1 - acceleration * (bias + z)))
    assert interval.bounds == pytest.approx(np.quantile(values, tails), abs=1e-12)
    assert without == pytest.approx([np.delete(SKEWED, i).mean() for i in range(30)], abs=1e-15)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_scipys_interval_differs_only_by_its_draws(method: Any) -> None:
    theirs = scipy_stats.bootstrap((SKEWED,), np.mean, n_resamples=20_000, method=method, rng=np.random.default_rng(1)).confidence_interval
    ours = bootstrap(mean, SKEWED, stream=stream(3, "boot"), resamples=20_000, method=method)
    assert ours.bounds == pytest.approx((theirs.low, theirs.high), abs=0.04 * (theirs.high - theirs.low))


def test_clusters_are_drawn_whole_whatever_their_sizes() -> None:
    values, cluster = np.array([1.0, 1, 1, 5, 5, 9]), ["b", "b", "b", "a", "a", "c"]
    seen: set[tuple[float, ...]] = set()

    def statistic(rows: Floats) -> Floats:
        seen.update(tuple(sorted(row)) for row in rows)
        return mean(rows)

    interval = bootstrap(statistic, values, stream=stream(1, "clusters"), cluster=cluster, resamples=500)
    assert interval.bounds is not None
    whole = {"a": (5.0, 5.0), "b": (1.0, 1.0, 1.0), "c": (9.0,)}
    expected = {tuple(sorted(whole[i] + whole[j] + whole[k])) for i in "abc" for j in "abc" for k in "abc"}
    assert seen == expected


def test_bca_leaves_out_whole_clusters() -> None:
    sizes: list[int] = []

    def statistic(rows: Floats) -> Floats:
        sizes.append(rows.shape[1])
        return mean(rows)

    values = stream(5, "v").normal(12)
    bootstrap(statistic, values, stream=stream(1, "c"), cluster=np.repeat([3, 1, 2], 4), method="bca", resamples=200)
    assert sizes == [12, 12, 8]


def test_every_array_follows_the_same_rows() -> None:
    x = stream(1, "x").normal(20)
    ratio = bootstrap(lambda a, b: mean(a) / mean(b), (3 * x, x), stream=stream(1, "pairs"), resamples=100)
    assert ratio.bounds == pytest.approx((3.0, 3.0))


def test_wide_rows_stay_rows() -> None:
    table = stream(1, "t").normal((15, 4))
    interval = bootstrap(lambda rows: np.asarray(rows.mean(axis=1).max(axis=-1)), table, stream=stream(1, "wide"), resamples=100)
    assert interval.resamples == 100


def test_chunks_do_not_move_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = bootstrap(mean, SKEWED, stream=stream(9, "chunks"), resamples=300, method="bca")
    monkeypatch.setattr("wm_audit.stats.resampling._CELLS", 1000)
    assert bootstrap(mean, SKEWED, stream=stream(9, "chunks"), resamples=300, method="bca") == whole


@few
@given(st.integers(0, 999), st.sampled_from(["spearman", "kendall"]), st.sampled_from(["percentile", "bca"]))
def test_one_stream_one_interval_which_contains_its_estimate_and_widens(seed: int, statistic: Any, method: Any) -> None:
    x, y = np.rint(stream(seed, "xy").normal((2, 12)) * 2)
    options: dict[str, Any] = {"resamples": 300, "method": method, "min_distinct": 2}
    narrow, wide, again = (
        correlation_bootstrap(x, y, statistic, stream=stream(seed, "one"), level=level, **options) for level in (0.8, 0.95, 0.8)
    )
    assert narrow == again
    value = (spearman if statistic == "spearman" else kendall_tau_b)(x, y, min_distinct=2).value
    if narrow.bounds is None or wide.bounds is None:
        assert narrow.reason is not None or wide.reason is not None
        return
    assert value is not None
    assert wide.bounds[0] <= narrow.bounds[0] <= value <= narrow.bounds[1] <= wide.bounds[1]


@pytest.mark.parametrize(("kernel", "oracle"), [(rho_rows, scipy_stats.spearmanr), (tau_rows, scipy_stats.kendalltau)])
def test_batched_coefficients_are_scipys(kernel: Any, oracle: Any) -> None:
    x, y = stream(1, "codes").integers(5, (40, 9)), stream(2, "codes").integers(4, (40, 9))
    for row_x, row_y, value in zip(x, y, kernel(x, y), strict=True):
        if len(set(row_x)) == 1 or len(set(row_y)) == 1:
            assert math.isnan(value)
        else:
            assert value == pytest.approx(float(oracle(row_x, row_y).statistic), abs=1e-12)


def test_a_pair_that_is_not_finite_leaves_with_its_cluster_label() -> None:
    x, y = stream(1, "xy").normal((2, 12))
    cluster = np.arange(12) // 2
    expected = correlation_bootstrap(np.delete(x, 3), np.delete(y, 3), stream=stream(1, "s"), cluster=np.delete(cluster, 3))
    x[3] = math.nan
    assert correlation_bootstrap(x, y, stream=stream(1, "s"), cluster=cluster) == expected


def test_degenerate_resamples_are_counted_and_above_five_percent_refused() -> None:
    x = np.arange(15.0)
    few_ties, many_ties = np.r_[np.zeros(12), 1, 2, 3], np.r_[np.zeros(13), 1, 2]
    shown = correlation_bootstrap(x, few_ties, stream=stream(1, "k08"))
    assert shown.bounds is not None
    assert shown.n_degenerate == pytest.approx(2000 * 0.8**15, rel=0.25)
    refused = correlation_bootstrap(x, many_ties, stream=stream(1, "k08"), min_distinct=3)
    assert (refused.bounds, refused.reason) == (None, Reason.DEGENERATE_RESAMPLES)
    assert refused.n_degenerate == pytest.approx(2000 * (13 / 15) ** 15, rel=0.25)


@pytest.mark.parametrize("undefined", [100, 101])
def test_the_border_of_five_percent(undefined: int) -> None:
    def sometimes(rows: Floats) -> Floats:
        values = mean(rows)
        if len(rows) == 2000:
            values[:undefined] = math.nan
        return values

    interval = bootstrap(sometimes, SKEWED, stream=stream(1, "border"))
    assert interval.n_degenerate == undefined
    assert interval.reason is (None if undefined == 100 else Reason.DEGENERATE_RESAMPLES)


def test_intervals_that_cannot_be() -> None:
    def run(statistic: Any, data: Any, **options: Any) -> Reason | None:
        return bootstrap(statistic, data, stream=stream(1, "none"), resamples=200, **options).reason

    assert run(mean, np.zeros(0)) is Reason.NO_FINITE_PAIRS
    assert run(mean, np.zeros(1)) is Reason.TOO_FEW_PAIRS
    assert run(mean, np.arange(4.0), cluster=[1, 1, 1, 1]) is Reason.TOO_FEW_PAIRS
    assert run(mean, np.array([1.0, math.nan, 2.0])) is Reason.DEGENERATE_RESAMPLES
    # The number of distinct rows can only fall: no quantile of the resamples reaches the data's.
    distinct = lambda rows: np.array([float(len(set(row))) for row in rows])  # noqa: E731  one line says it
    assert run(distinct, np.arange(30.0)) is Reason.ESTIMATE_OUTSIDE
    assert run(distinct, np.arange(30.0), method="bca") is Reason.ESTIMATE_OUTSIDE
    lonely = lambda rows: np.where((rows == 9.0).any(axis=-1), mean(rows), math.nan)  # noqa: E731
    assert run(lonely, np.r_[np.arange(8.0), 9, 9, 9], method="bca") is None
    assert run(lonely, np.r_[np.arange(8.0), 9.0], method="bca") is Reason.DEGENERATE_RESAMPLES
    assert bootstrap(mean, np.full(5, 0.1), stream=stream(1, "flat"), method="bca").bounds == pytest.approx((0.1, 0.1))


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], Reason.NO_FINITE_PAIRS),
        ([1] * 8, range(8), Reason.CONSTANT_X),
        (range(8), range(8), Reason.PERFECT_CORRELATION),
        (range(3), range(3), Reason.TOO_FEW_PAIRS),
    ],
)
def test_degenerate_pairs_have_a_reason(x: Any, y: Any, reason: Reason) -> None:
    assert correlation_bootstrap(x, y, stream=stream(1, "none")).reason is reason


def test_wrong_use_names_the_argument() -> None:
    def run(name: str, statistic: Any = mean, data: Any = SKEWED, **options: Any) -> None:
        with pytest.raises(ValueError, match=name):
            bootstrap(statistic, data, stream=stream(1, "wrong"), **options)

    run("level", level=1.0)
    run("resamples", resamples=0)
    run("method", method="basic")
    run("cluster", cluster=[1, 2])
    run("cluster", cluster=np.linspace(0, 1, 30))
    run("data", data=SKEWED > 1)
    run("data", data=(SKEWED, SKEWED[1:]))
    run("data", data=())
    run("statistic", statistic=lambda rows: rows)
    for name, options in (("statistic", {"statistic": "r"}), ("level", {"level": 0.0}), ("cluster", {"cluster": [1]})):
        with pytest.raises(ValueError, match=name):
            correlation_bootstrap(SKEWED, SKEWED[::-1], stream=stream(1, "wrong"), **options)
