"""Control models: what every one of them promises, and the answer each is known for."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import stats

from wm_audit.core import AuditError, stream
from wm_audit.envs import make
from wm_audit.envs.protocol import Oracle
from wm_audit.models.controls import CONTROLS, LOG_VARIANCE, Control, unit_hash
from wm_audit.models.dreamer_lite.config import Config
from wm_audit.models.protocol import Continues, Decodes, Grounds, Rewards, State, tile

Floats = NDArray[np.float64]
WORLDS = ["pixel_nav", "two_room", "ending"]

torch.set_num_threads(1)


@pytest.fixture(params=WORLDS)
def world(request: pytest.FixtureRequest) -> Oracle:
    """Small pictures, short episodes; "ending" terminates in the goal, which is large."""
    ending = {"terminal": "goal", "goal_radius": 0.12, "gain": 0.05}
    built = (
        make("pixel_nav", {"image": 16, "limit": 12, **ending})
        if request.param == "ending"
        else make(request.param, {"image": 16, "limit": 12})
    )
    built.reset(stream(0, "start"), 40)
    return built


@pytest.fixture(params=sorted(CONTROLS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def actions(n: int, steps: int) -> Floats:
    return stream(1, "actions").uniform((steps, n, 2), -1.0, 1.0).astype(np.float32).astype(np.float64)


def tensor(action: Floats) -> torch.Tensor:
    return torch.from_numpy(action.astype(np.float32))


def blank(n: int) -> torch.Tensor:
    return torch.zeros(n, 3, 16, 16, dtype=torch.uint8)


def test_every_control_has_the_capabilities_of_a_model_that_is_told(world: Oracle, name: str) -> None:
    model = CONTROLS[name](world, 3)
    assert isinstance(model, Decodes)
    assert isinstance(model, Rewards)
    assert isinstance(model, Grounds)
    assert not isinstance(model, Continues)
    with pytest.raises(AuditError, match="true state"):
        model.initial(4)


@pytest.mark.parametrize("members", [1, 3])
def test_members_are_identical_and_lead_every_shape(world: Oracle, name: str, members: int) -> None:
    model = CONTROLS[name](world, members)
    state = model.imagine(model.ground(world.snapshot()), tensor(actions(40, 1)[0]))
    pixels = model.decode(state)
    assert model.members == members
    assert pixels.log_variance is not None
    for item in (*state.values(), model.reward(state), pixels.mean, pixels.log_variance):
        assert item.shape[:2] == (members, 40)
        assert torch.equal(item, item[:1].expand_as(item))
    assert pixels.mean.shape == pixels.log_variance.shape == (members, 40, 3, 16, 16)
    assert pixels.mean.dtype == torch.float32
    assert float(pixels.mean.min()) >= 0.0
    assert float(pixels.mean.max()) <= 1.0
    assert model.reward(state).dtype == torch.float64


def test_states_stand_for_themselves(world: Oracle, name: str) -> None:
    """Calls in any order, on any state, leave every state as it was, and the environment too."""
    before, action = world.snapshot(), tensor(actions(40, 1)[0])
    model = CONTROLS[name](world, 2)
    state = model.ground(before)
    kept = {key: item.clone() for key, item in state.items()}
    first = model.imagine(state, action)
    model.decode(model.imagine(tile(first, 3), action.repeat_interleave(3, dim=0)))
    again = model.imagine(state, action)
    for key in state:
        assert torch.equal(state[key], kept[key])
        assert torch.equal(first[key], again[key])
    np.testing.assert_array_equal(world.snapshot(), before)


def test_a_row_does_not_depend_on_the_others(world: Oracle, name: str) -> None:
    model, snapshot, action = CONTROLS[name](world, 2), world.snapshot(), tensor(actions(40, 1)[0])
    whole = model.imagine(model.ground(snapshot), action)
    part = model.imagine(model.ground(snapshot[7:9]), action[7:9])
    for key in whole:
        assert torch.equal(whole[key][:, 7:9], part[key])


def test_observing_follows_the_truth_whatever_the_picture_shows(world: Oracle, name: str) -> None:
    model = CONTROLS[name](world, 2)
    state = model.ground(world.snapshot())
    for action in actions(40, 5):
        world.advance(action)
        state = model.observe(state, tensor(action), blank(40))
        np.testing.assert_array_equal(state["snapshot"][0].numpy(), world.snapshot())


def walk(world: Oracle, model: Control, steps: int) -> tuple[list[State], Floats, NDArray[np.bool_]]:
    """Imagined states, true rewards (0 after termination) and whether each episode was running before each step."""
    state, alive = model.ground(world.snapshot()), np.ones(world.n, dtype=bool)
    states, rewards, running = [], [], []
    for action in actions(world.n, steps):
        outcome = world.advance(action)
        state = model.imagine(state, tensor(action))
        states.append(state)
        rewards.append(np.where(alive, outcome.reward, 0.0))
        running.append(alive)
        alive = alive & ~outcome.terminated
    return states, np.stack(rewards), np.stack(running)


def test_the_oracle_is_right_in_every_bit(world: Oracle) -> None:
    model = CONTROLS["oracle"](world, 3)
    states, rewards, running = walk(world, model, 10)
    np.testing.assert_array_equal(np.stack([model.reward(state)[2].numpy() for state in states]), rewards)
    if world.spec.settings["terminal"] == "goal":
        assert not running[-1].all()
    np.testing.assert_array_equal(states[-1]["snapshot"][1].numpy(), world.snapshot())
    pixels = model.decode(states[-1])
    np.testing.assert_array_equal(pixels.mean[1].numpy(), world.render().astype(np.float32) / np.float32(255))


def test_the_action_blind_model_imagines_the_world_without_anybody_acting(world: Oracle) -> None:
    model, start = CONTROLS["action_blind"](world, 1), world.snapshot()
    states, rewards, _ = walk(world, model, 6)
    world.restore(start)
    alive = np.ones(40, dtype=bool)
    for state in states:
        outcome = world.advance(np.zeros((40, 2)))
        np.testing.assert_array_equal(model.reward(state)[0].numpy(), np.where(alive, outcome.reward, 0.0))
        alive &= ~outcome.terminated
    np.testing.assert_array_equal(model.decode(states[-1]).mean[0].numpy(), world.render().astype(np.float32) / np.float32(255))
    assert np.abs(model.reward(states[-1])[0].numpy() - rewards[-1]).max() > 0.01


def test_the_constant_model_says_one_thing(world: Oracle) -> None:
    model = CONTROLS["constant"](world, 1)
    states, _, running = walk(world, model, 6)
    claimed = np.stack([model.reward(state)[0].numpy() for state in states])
    assert np.unique(claimed[running]).size == 1
    pictures = torch.cat([model.decode(state).mean[0] for state in states])
    assert torch.equal(pictures, pictures[:1].expand_as(pictures))
    assert 0.0 < float(pictures.mean()) < 1.0


def test_the_shuffled_reward_keeps_the_distribution_and_loses_the_association() -> None:
    world = make("pixel_nav", {"image": 16, "limit": 12})
    world.reset(stream(4, "other starts"), 400)
    model = CONTROLS["shuffled_reward"](world, 1)
    states, rewards, _ = walk(world, model, 12)
    claimed = np.stack([model.reward(state)[0].numpy() for state in states])
    assert abs(stats.spearmanr(claimed.ravel(), rewards.ravel()).statistic) < 0.06  # 4 standard errors of 4800 pairs
    shares = [0.05, 0.25, 0.5, 0.75, 0.95]
    np.testing.assert_allclose(np.quantile(claimed, shares), np.quantile(rewards, shares), atol=0.06)
    np.testing.assert_array_equal(states[-1]["snapshot"][0].numpy(), world.snapshot())
    twin = CONTROLS["shuffled_reward"](world, 1)
    assert torch.equal(twin.imagine(states[-2], tensor(actions(400, 12)[-1]))["reward"], states[-1]["reward"])


def test_only_the_oracle_orders_actions_rightly() -> None:
    world = make("pixel_nav", {"image": 16, "limit": 12})
    world.reset(stream(5, "starts"), 30)
    start, tried = world.snapshot(), actions(8, 1)[0]
    source = np.repeat(start, 8, axis=0)
    world.restore(source)
    truth = world.advance(np.tile(tried, (30, 1))).reward.reshape(30, 8)
    taus = {}
    for name, build in CONTROLS.items():
        model = build(world, 1)
        claimed = model.reward(model.imagine(model.ground(source), tensor(np.tile(tried, (30, 1)))))[0].numpy().reshape(30, 8)
        per_state = [stats.kendalltau(a, b).statistic if np.ptp(b) > 0 else 0.0 for a, b in zip(truth, claimed, strict=True)]
        taus[name] = float(np.mean(per_state))
    assert taus["oracle"] == pytest.approx(1.0, abs=1e-12)
    assert taus["action_blind"] == 0.0
    assert taus["constant"] == 0.0
    assert abs(taus["shuffled_reward"]) < 0.25  # 4 standard errors: 0.32 / sqrt(30) each


def test_no_control_claims_more_certainty_than_a_model_may() -> None:
    assert Config(image=(3, 16, 16), actions=2, hidden=8, embed=8).log_variance[0] == LOG_VARIANCE


def test_the_hash_looks_uniform_and_belongs_to_the_row() -> None:
    rows = stream(0, "rows").normal((20_000, 5))
    hashed = unit_hash(rows)
    assert stats.kstest(hashed, "uniform").pvalue > 0.001
    near = rows.copy()
    near[:, 2] = np.nextafter(near[:, 2], np.inf)
    assert abs(stats.spearmanr(hashed, unit_hash(near)).statistic) < 0.03
    order = stream(0, "order").permutation(20_000)
    np.testing.assert_array_equal(unit_hash(rows[order]), hashed[order])
    np.testing.assert_array_equal(unit_hash(np.array([[0.0, 1.0]])), unit_hash(np.array([[-0.0, 1.0]])))
    assert hashed.min() >= 0.0
    assert hashed.max() < 1.0
