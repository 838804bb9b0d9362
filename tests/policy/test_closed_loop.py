"""What agents earn: oracle and controls against each other, and what survives from one episode to the next."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from wm_audit.core import AuditError, Measurement, Reason, Stream, stream
from wm_audit.envs import make
from wm_audit.envs.protocol import Images, Oracle
from wm_audit.models.controls import CONTROLS, action_blind, oracle
from wm_audit.policy.agents import Agent, ModelAgent, OracleAgent, RandomAgent, ZeroAgent
from wm_audit.policy.cem import CemSettings
from wm_audit.policy.closed_loop import Returns, closed_loop, normalised, start_states, summary
from wm_audit.policy.mpc import Decision

Floats = NDArray[np.float64]


def run(world: Oracle, agent: Agent, n: int = 24, root: int = 0) -> Returns:
    starts = start_states(world, n, stream(0, "starts"))
    return closed_loop(world, starts, agent, steps=world.spec.limit, stream=stream(root, "evaluation"))


@dataclass
class Scripted:
    """Plays one action for ever and keeps what it was shown."""

    action: tuple[float, ...]
    observes: bool = False
    seen: list[Images | None] = field(default_factory=list)
    n: int = 0

    def reset(self, n: int, stream: Stream) -> None:
        self.n = n

    def act(self, env: Oracle, obs: Images | None, step: int) -> Decision:
        self.seen.append(obs)
        return Decision(np.tile(np.array(self.action), (self.n, 1)), np.arange(self.n) % 2 == step % 2)


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("kind", ["world", "ending_world", "lopsided_world"])
@pytest.mark.parametrize("hold", [1, 2])
def test_oracle_arm_earns_exactly_what_the_oracle_planner_earns(kind: str, members: int, hold: int, request: pytest.FixtureRequest) -> None:
    world: Oracle = request.getfixturevalue(kind)
    chosen = CemSettings(horizon=4, candidates=12, elites=3, iterations=2, hold=hold)
    through_model = run(world, ModelAgent(oracle(world, members), world.spec, chosen, discount=0.98))
    on_environment = run(world, OracleAgent(world.spec, chosen, discount=0.98))
    np.testing.assert_array_equal(through_model.value, on_environment.value)
    np.testing.assert_array_equal(through_model.length, on_environment.length)
    assert np.unique(on_environment.value).size == 24


@pytest.mark.parametrize("environment", ["pixel_nav", "two_room"])
def test_controls_on_the_built_in_worlds(environment: str) -> None:
    world = make(environment, {"image": 16, "limit": 14})
    chosen = CemSettings(horizon=6, candidates=16, elites=4, iterations=2)
    on_environment = run(world, OracleAgent(world.spec, chosen))
    np.testing.assert_array_equal(run(world, ModelAgent(oracle(world), world.spec, chosen)).value, on_environment.value)
    by_chance = run(world, RandomAgent(world.spec))
    assert (on_environment.value > by_chance.value).mean() > 0.9
    near_chance(run(world, ModelAgent(action_blind(world), world.spec, chosen)), by_chance, on_environment)


@pytest.mark.parametrize("name", sorted(set(CONTROLS) - {"oracle"}))
def test_controls_that_know_nothing_of_actions_earn_about_what_chance_earns(name: str, world: Oracle, settings: CemSettings) -> None:
    by_chance, best = run(world, RandomAgent(world.spec)), run(world, OracleAgent(world.spec, settings))
    near_chance(run(world, ModelAgent(CONTROLS[name](world, 2), world.spec, settings)), by_chance, best)


def near_chance(control: Returns, by_chance: Returns, best: Returns) -> None:
    """Below a third of the way from chance to the oracle, by more than three standard errors of the paired difference."""
    gap = best.value - by_chance.value
    excess = (control.value - by_chance.value) - gap / 3.0
    assert gap.mean() > 3.0 * gap.std(ddof=1) / np.sqrt(gap.size)
    assert excess.mean() + 3.0 * excess.std(ddof=1) / np.sqrt(excess.size) < 0.0


def test_returns_are_summed_until_each_episode_ends(ending_world: Oracle) -> None:
    agent = Scripted((0.5, 0.2))
    returns = run(ending_world, agent, n=40)
    world = ending_world.fork()
    for i, start in enumerate(start_states(ending_world, 40, stream(0, "starts"))):
        world.restore(start[None])
        total, steps = 0.0, 0
        while True:
            outcome = world.advance(np.array([[0.5, 0.2]]))
            total, steps = total + float(outcome.reward[0]), steps + 1
            if outcome.terminated[0] or outcome.truncated[0]:
                break
        assert returns.value[i] == pytest.approx(total, abs=1e-12)
        assert returns.length[i] == steps
        assert returns.nonfinite_plans[i] == sum(t % 2 == i % 2 for t in range(steps))
    assert returns.length.min() < returns.length.max() == 15


def test_the_loop_stops_when_all_have_ended(world: Oracle) -> None:
    agent = Scripted((0.0, 0.0))
    closed_loop(world, start_states(world, 20, stream(0)), agent, steps=1000, stream=stream(0))
    assert len(agent.seen) == world.spec.limit


def test_pictures_are_drawn_only_for_agents_that_look(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    draw = type(world).render

    def counted(self: Any) -> Any:
        drawn.append(self.n)
        return draw(self)

    monkeypatch.setattr(type(world), "render", counted)
    starts = start_states(world, 20, stream(0))
    drawn.clear()
    for agent in (RandomAgent(world.spec), ZeroAgent(world.spec), OracleAgent(world.spec, CemSettings(2, 4, 2, 1))):
        closed_loop(world, starts, agent, steps=5, stream=stream(0))
    assert drawn == []
    watcher = Scripted((0.0, 0.0), observes=True)
    closed_loop(world, starts, watcher, steps=5, stream=stream(0))
    assert all(obs is not None and obs.shape == (20, 3, 8, 8) for obs in watcher.seen)


def test_the_environment_handed_in_is_left_alone(world: Oracle, settings: CemSettings) -> None:
    world.reset(stream(9), 3)
    before = world.snapshot()
    run(world, OracleAgent(world.spec, settings))
    np.testing.assert_array_equal(world.snapshot(), before)


def test_an_episode_does_not_depend_on_the_others(world: Oracle, settings: CemSettings) -> None:
    agents: tuple[Agent, ...] = (
        OracleAgent(world.spec, settings),
        RandomAgent(world.spec),
        ModelAgent(oracle(world, 1), world.spec, settings),
    )
    for agent in agents:
        np.testing.assert_array_equal(run(world, agent, n=20).value, run(world, agent, n=24).value[:20])


def test_random_actions_fill_the_box_and_differ_between_episodes(lopsided_world: Oracle) -> None:
    agent = RandomAgent(lopsided_world.spec)
    agent.reset(50, stream(0))
    actions = np.stack([agent.act(lopsided_world, None, t).action for t in range(40)])
    assert -0.3 <= actions.min() < -0.28
    assert 1.08 < actions.max() <= 1.1
    assert np.unique(actions[:, :, 0]).size > 1990  # two float32 numbers may coincide


def test_doing_nothing_is_the_action_nearest_to_zero(world: Oracle) -> None:
    agent = ZeroAgent(type(world)(low=0.25, high=0.75).spec)  # type: ignore[call-arg]  # the test's own world
    agent.reset(2, stream(0))
    np.testing.assert_array_equal(agent.act(world, None, 0).action, np.full((2, 2), 0.25))


@dataclass
class Believer:
    """A model without ground truth: its belief is the sum of the actions and pictures it was shown; likes small actions."""

    shown: list[tuple[torch.Tensor, torch.Tensor]] = field(default_factory=list)
    members: int = 2

    def initial(self, batch: int) -> dict[str, torch.Tensor]:
        return {"x": torch.zeros(2, batch)}

    def observe(self, state: dict[str, torch.Tensor], action: torch.Tensor, obs: torch.Tensor) -> dict[str, torch.Tensor]:
        self.shown.append((action, obs))
        return {"x": state["x"] + action.sum(dim=1)}

    def imagine(self, state: dict[str, torch.Tensor], action: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"x": state["x"] + action.sum(dim=1)}

    def reward(self, state: dict[str, torch.Tensor]) -> torch.Tensor:
        return -((state["x"] - 1.0) ** 2)


def test_a_model_sees_the_action_that_led_to_each_picture(world: Any, settings: CemSettings) -> None:
    model, executed = Believer(), []
    push = type(world).advance

    class Watched(type(world)):  # type: ignore[misc]  # the test's own world
        def advance(self, action: Floats) -> Any:
            executed.append(action)
            return push(self, action)

    watched = Watched()
    starts = start_states(watched, 20, stream(0))
    closed_loop(watched, starts, ModelAgent(model, watched.spec, settings), steps=6, stream=stream(0))
    assert len(model.shown) == len(executed) == 6
    assert model.shown[0][0].abs().max() == 0
    replay = watched.fork()
    replay.restore(starts)
    for t, (action, obs) in enumerate(model.shown):
        if t > 0:
            np.testing.assert_array_equal(action.double().numpy(), executed[t - 1])
            replay.step(executed[t - 1])
        np.testing.assert_array_equal(obs.numpy(), replay.render())


def test_a_model_agent_needs_pictures(world: Oracle, settings: CemSettings) -> None:
    agent = ModelAgent(Believer(), world.spec, settings)
    agent.reset(2, stream(0))
    with pytest.raises(AuditError, match="observations"):
        agent.act(world, None, 0)


def test_start_states_are_nested_and_enough(world: Oracle) -> None:
    few, many = start_states(world, 20, stream(0)), start_states(world, 30, stream(0))
    np.testing.assert_array_equal(few, many[:20])
    with pytest.raises(AuditError, match="too few start states"):
        start_states(world, 19, stream(0))
    assert start_states(world, 3, stream(0), least=2).shape == (3, 7)


@pytest.mark.parametrize("action", [(float("nan"), 0.0), (0.0, float("inf")), (0.0,)])
def test_actions_that_are_no_actions_are_refused(action: tuple[float, ...], world: Oracle) -> None:
    with pytest.raises(AuditError, match="the agent's actions"):
        run(world, Scripted(action))


def returns_of(values: list[float]) -> Returns:
    n = len(values)
    return Returns(np.array(values), np.ones(n, dtype=np.int64), np.zeros(n, dtype=np.int64))


def test_summary_is_the_mean_with_its_standard_error() -> None:
    measured = summary(returns_of([1.0, 2.0, 3.0, 6.0]))
    assert measured.value == 3.0
    assert measured.se == pytest.approx(np.sqrt(14.0 / 3.0 / 4.0))
    assert (measured.n, measured.orientation, measured.unit) == (4, 1, "return")
    assert summary(returns_of([1.0])).se is None


def test_summary_of_nothing_and_of_broken_returns_is_null() -> None:
    assert summary(returns_of([])).reason is Reason.TOO_FEW_SAMPLES
    broken = summary(returns_of([1.0, float("nan"), float("inf")]))
    assert (broken.reason, broken.n, broken.n_dropped) == (Reason.NONFINITE_PREDICTION, 1, 2)


def test_normalised_returns() -> None:
    low, high = Measurement(-3.1, n=20), Measurement(7.3, n=20)
    assert normalised(low, low, high).value == 0.0
    assert normalised(high, low, high).value == 1.0
    middle = normalised(Measurement(2.1, se=1.04, n=20), low, high)
    assert middle.value == pytest.approx(0.5)
    assert middle.se == pytest.approx(0.1)
    assert (middle.unit, middle.orientation, middle.n) == ("1", 1, 20)


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (2.0, 1.0), (1.0, 1.0 + 2e-16), (-5.0, -5.0), (0.0, 0.0)])
def test_references_that_do_not_differ_give_no_scale(low: float, high: float) -> None:
    assert normalised(Measurement(1.0), Measurement(low), Measurement(high)).reason is Reason.REFERENCE_DEGENERATE


def test_missing_numbers_stay_missing() -> None:
    some, none = Measurement(1.0), Measurement.null(Reason.TOO_FEW_SAMPLES)
    assert normalised(none, some, Measurement(2.0)).reason is Reason.TOO_FEW_SAMPLES
    assert normalised(some, none, some).reason is Reason.REFERENCE_MISSING
    assert normalised(some, some, none).reason is Reason.REFERENCE_MISSING
