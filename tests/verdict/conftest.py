"""Synthetic evidence with known answers: rows whose diagnostics follow the outcome as closely as a test asks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from wm_audit.core import Key, Measurement, Reason, Row, Stream, stream
from wm_audit.verdict.rules import Rules

CAPACITIES = ((32, 16), (64, 32), (128, 64))
EXACT = {"oracle": (0.0, 1.0), "action_blind": (0.4, 0.0), "constant": (0.5, 0.0), "shuffled_reward": (0.6, 0.01)}


@dataclass(frozen=True)
class World:
    """How evidence is made; every number is reproducible from `root`.

    perceptual, control: correlation of each side's diagnostics with the model's skill inside a capacity.
    levers: lever -> (degradation of pixels, of calibration) in seed standard deviations.
    """

    seeds: int = 20
    capacities: Sequence[tuple[int, int]] = CAPACITIES
    env: str = "pixel_nav"
    perceptual: float = 0.0
    control: float = 0.95
    outcome_noise: float = 0.1
    levers: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    lever_noise: float = 0.1
    arms: bool = False
    starts: int = 8
    root: int = 0


def measurement(value: float, orientation: int, **extra: Any) -> Measurement:
    return Measurement(float(value), n=64, orientation=orientation, **extra)


def _diagnostics(rules: Rules, latent: Mapping[str, float], wobble: Stream) -> dict[str, Measurement]:
    """Values from latents in which larger is better; the repeat differs by a little evaluation noise."""
    noise = 0.01 * wobble.normal(len(rules.slots))
    return {
        name: measurement(slot.orientation * latent[name], slot.orientation, repeat=slot.orientation * (latent[name] + noise[place]))
        for place, (name, slot) in enumerate(rules.slots.items())
    }


def _row(key: Key, skill: float, latent: Mapping[str, float], world: World, rules: Rules) -> Row:
    draws = stream(world.root, "synthetic", "row", key.text())
    starts = stream(world.root, "synthetic", "starts", key.env).normal(world.starts)
    returns = 10.0 + skill + 0.3 * starts + world.outcome_noise * draws.normal(world.starts)
    outcome = float(returns.mean())
    details = {"returns": returns.tolist(), "normalised_return": Measurement(outcome / 20.0, n=world.starts).to_json()}
    diagnostics = _diagnostics(rules, latent, draws)
    return Row(key, Measurement(outcome, unit="return", n=world.starts, orientation=1), diagnostics, details, {"code": "sha256:0"})


def _cell(world: World, rules: Rules, seed: int, place: int) -> list[Row]:
    """One trained float row and its compressed twins."""
    hidden, embed = world.capacities[place]
    skill, *noise = stream(world.root, "synthetic", world.env, seed, place).normal(1 + len(rules.slots))
    follow = {name: world.perceptual if name in rules.perceptual else world.control for name in rules.slots}
    latent = {
        name: 3.0 * place + follow[name] * skill + float(np.sqrt(1 - follow[name] ** 2)) * noise[at] for at, name in enumerate(rules.slots)
    }
    key = Key(world.env, hidden, embed, seed)
    rows = [_row(key, skill + 2.0 * place, latent, world, rules)]
    for lever, (pixel, calibration) in world.levers.items():
        draws = world.lever_noise * stream(world.root, "synthetic", lever, seed, place).normal(len(rules.slots))
        worse = {name: pixel if name in rules.perceptual else calibration for name in rules.slots}
        shifted = {name: latent[name] - worse[name] - draws[at] for at, name in enumerate(rules.slots)}
        twin = Key(world.env, hidden, embed, seed, "trained", lever)
        copy = rows[0].diagnostics if lever == "copy" else None
        row = _row(twin, skill + 2.0 * place, shifted, world, rules)
        rows.append(Row(twin, rows[0].outcome, copy, rows[0].details, row.manifest) if copy is not None else row)
    return rows


def _arms(world: World, rules: Rules) -> list[Row]:
    """Arms whose answers are known: the oracle returns 20, everything else about 0."""
    rows = []
    for arm in ("oracle", "random", *(name for name in EXACT if name != "oracle")):
        draws = stream(world.root, "synthetic", "arm", world.env, arm).normal(world.starts)
        returns = 20.0 + 0.5 * draws if arm == "oracle" else 0.5 * draws
        diagnostics = {name: Measurement.null(Reason.NOT_APPLICABLE, orientation=slot.orientation) for name, slot in rules.slots.items()}
        if arm in EXACT:
            ece, tau = EXACT[arm]
            diagnostics |= {name: Measurement.null(Reason.IDENTICAL_MEMBERS) for name in ("uncertainty_rho", "uncertainty_ece")}
            diagnostics |= {"return_ece": measurement(ece, -1), "counterfactual_tau": measurement(tau, 1)}
        normalised = Measurement(float(returns.mean()) / 20.0, n=world.starts)
        outcome = Measurement(float(returns.mean()), unit="return", n=world.starts, orientation=1)
        details = {"returns": returns.tolist(), "normalised_return": normalised.to_json()}
        rows.append(Row(Key(world.env, 0, 0, 0, arm), outcome, diagnostics, details, {"code": "sha256:0"}))
    return rows


@pytest.fixture(scope="session")
def make() -> Callable[..., list[Row]]:
    """`make(seeds=5, perceptual=0.8, ...)`: rows of one environment, sorted by key."""

    def build(**settings: Any) -> list[Row]:
        world, rules = World(**settings), Rules.default()
        rows = [row for seed in range(world.seeds) for place in range(len(world.capacities)) for row in _cell(world, rules, seed, place)]
        return sorted(rows + (_arms(world, rules) if world.arms else []), key=lambda row: row.key)

    return build


@pytest.fixture(scope="session")
def change() -> Callable[..., list[Row]]:
    """`change(rows, where, {name: Measurement or function})`: the same rows with some diagnostics replaced where `where(key)` holds."""

    def build(rows: Sequence[Row], where: Callable[[Key], bool], new: Mapping[str, Any]) -> list[Row]:
        changed = []
        for row in rows:
            if where(row.key):
                values = {name: item(row) if callable(item) else item for name, item in new.items()}
                outcome = values.pop("outcome", row.outcome)
                row = Row(row.key, outcome, row.diagnostics | values, row.details, row.manifest)  # noqa: PLW2901  rows are never edited
            changed.append(row)
        return changed

    return build


@pytest.fixture(scope="session")
def quick() -> Rules:
    """The published rules with fewer random draws: tests ask what a rule does, not how finely it samples."""
    return replace(Rules.default(), resamples=50, permutations=199)
