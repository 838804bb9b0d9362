"""Planning through a model, against what the machine can multiply at all."""

import statistics
import sys

import numpy as np
import torch

from benchmarks.report import Report, seconds
from wm_audit.core import stream
from wm_audit.models.dreamer_lite import Config, DreamerLite, Trainable
from wm_audit.policy.cem import CemSettings, plan
from wm_audit.policy.score import model_score

CONFIG = Config(image=(3, 32, 32), actions=2, hidden=64, embed=64)
SEARCH = CemSettings(horizon=12, candidates=64, elites=8, iterations=3)
MEMBERS, STARTS, ROUNDS, SIDE = 3, 32, 7, 512


def model() -> DreamerLite:
    streams = [stream(0, "benchmark", "member", k) for k in range(MEMBERS)]
    return Trainable(CONFIG, streams, np.full(CONFIG.image, 0.5, dtype=np.float32)).trained()


def products_per_row() -> int:
    """Multiplications and additions of the products that one imagined step of one member cannot do without."""
    c = CONFIG
    path = (c.stoch + c.actions + c.hidden) * 3 * c.hidden
    prior = c.hidden * c.hidden + c.hidden * 2 * c.stoch
    heads = 2 * (c.features * c.embed + c.embed)
    return 2 * (path + prior + heads)


def measure() -> Report:
    """A search beside a matrix product of the same machine, in alternating rounds."""
    torch.set_num_threads(1)
    planner, left, right = model(), torch.rand(SIDE, SIDE), torch.rand(SIDE, SIDE)
    score = model_score(planner, planner.initial(STARTS), discount=1.0)
    low, high = np.full(CONFIG.actions, -1.0), np.full(CONFIG.actions, 1.0)
    calls = iter(range(1000))

    def search() -> None:
        plan(score, low, high, batch=STARTS, settings=SEARCH, stream=stream(0, "benchmark", next(calls)), keep=False)

    search()
    pairs = [(seconds(lambda: torch.mm(left, right), 10), seconds(search)) for _ in range(ROUNDS)]
    limit, took = (statistics.median(column) for column in zip(*pairs, strict=True))
    rows = STARTS * SEARCH.candidates * SEARCH.iterations * SEARCH.horizon
    peak, reached = 2 * SIDE**3 / limit / 1e9, MEMBERS * rows * products_per_row() / took / 1e9
    table = [
        ["plans per second", f"{STARTS / took:,.0f}"],
        ["imagined steps per second, each through all members", f"{rows / took:,.0f}"],
        ["products of the model", f"{reached:.1f} GF/s"],
        [f"the machine's limit: torch.mm of {SIDE} x {SIDE}", f"{peak:.1f} GF/s"],
        ["share of the limit", f"{reached / peak:.0%}"],
    ]
    size = f"{STARTS} problems at once, {SEARCH.candidates} candidates, {SEARCH.iterations} rounds, {SEARCH.horizon} steps ahead"
    notes = [
        f"dreamer_lite, {MEMBERS} members, capacity (64, 64); {size}.",
        "Only the model's own matrix products are counted as work; gates, activations, noise and sorting are not.",
    ]
    return Report("Planning with the cross-entropy method", ("what", "measured"), table, notes)


if __name__ == "__main__":
    sys.stdout.write(measure().markdown())
