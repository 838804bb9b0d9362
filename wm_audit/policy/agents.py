"""Who acts in an evaluation: a model that plans, the oracle that plans, chance, and nobody.

Shapes: n episodes, A action.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch

from wm_audit.core import AuditError, Stream
from wm_audit.envs.protocol import EnvSpec, Images, Oracle
from wm_audit.models.protocol import Grounds, State, WorldModel
from wm_audit.policy.bounds import Bounds
from wm_audit.policy.cem import CemSettings
from wm_audit.policy.mpc import Decision, RecedingHorizon
from wm_audit.policy.score import model_score, scratch_score


class Agent(Protocol):
    """Acts in n episodes at once, which all start together."""

    @property
    def observes(self) -> bool:
        """Whether the agent looks at pictures; if not, none are drawn."""
        ...

    def reset(self, n: int, stream: Stream) -> None:
        """Starts n new episodes with the noise of `stream`; nothing of earlier ones survives."""
        ...

    def act(self, env: Oracle, obs: Images | None, step: int) -> Decision:
        """The actions of step `step` (0, 1, ...), for the copies of `env`; `obs` (n, C, h, w) if the agent observes."""
        ...


@dataclass(slots=True)
class ModelAgent:
    """Filters the observations with a world model and plans in its imagination; a model that can be grounded is.

    Attributes:
        model: predicts rewards.
        spec: of the environment it acts in.
        settings: of the search.
        discount: of imagined rewards.
        rows: how many sequences are imagined at once; all by default.
    """

    model: WorldModel
    spec: EnvSpec
    settings: CemSettings
    discount: float = 1.0
    rows: int | None = None
    _planner: RecedingHorizon = field(init=False)
    _state: State | None = field(init=False, default=None)
    _last: torch.Tensor = field(init=False)

    def __post_init__(self) -> None:
        """Builds the planner."""
        self._planner = RecedingHorizon(Bounds.of(self.spec.action_low, self.spec.action_high), self.settings)

    @property
    def observes(self) -> bool:
        """Always."""
        return True

    def reset(self, n: int, stream: Stream) -> None:
        """Forgets belief, plan and last action."""
        self._planner.reset([stream.child(i) for i in range(n)])
        self._state = None
        self._last = torch.zeros(n, len(self.spec.action_low))

    def act(self, env: Oracle, obs: Images | None, step: int) -> Decision:
        """Updates the belief with the last action and `obs`, then plans.

        Raises:
            AuditError: no observations were handed in, or the model does not predict rewards.
        """
        if obs is None:
            raise AuditError("a model agent needs observations", where="act", expected="images (n, C, h, w)", fix="render the environment")
        with torch.inference_mode():
            self._state = self._believe(env, torch.from_numpy(obs))
        score = model_score(self.model, self._state, discount=self.discount, rows=self.rows)
        decision = self._planner.decide(score, step)
        self._last = torch.from_numpy(decision.action.astype(np.float32))
        return decision

    def _believe(self, env: Oracle, obs: torch.Tensor) -> State:
        if self._state is not None:
            return self.model.observe(self._state, self._last, obs)
        if isinstance(self.model, Grounds):
            return self.model.ground(env.snapshot())
        return self.model.observe(self.model.initial(obs.shape[0]), self._last, obs)


@dataclass(slots=True)
class OracleAgent:
    """Plans on the true dynamics from the true state: the upper reference of every return."""

    spec: EnvSpec
    settings: CemSettings
    discount: float = 1.0
    _planner: RecedingHorizon = field(init=False)
    _scratch: Oracle | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Builds the planner."""
        self._planner = RecedingHorizon(Bounds.of(self.spec.action_low, self.spec.action_high), self.settings)

    @property
    def observes(self) -> bool:
        """Never: it knows."""
        return False

    def reset(self, n: int, stream: Stream) -> None:
        """Forgets the plan and the world it was made in."""
        self._planner.reset([stream.child(i) for i in range(n)])
        self._scratch = None

    def act(self, env: Oracle, obs: Images | None, step: int) -> Decision:  # noqa: ARG002  what it knows is in env
        """Plans from the environment's own snapshot."""
        if self._scratch is None:
            self._scratch = env.fork()
        return self._planner.decide(scratch_score(self._scratch, env.snapshot(), discount=self.discount), step)


@dataclass(slots=True)
class RandomAgent:
    """Uniform actions: the lower reference of every return. Episode i draws from its own stream."""

    spec: EnvSpec
    _streams: list[Stream] = field(init=False, default_factory=list)

    @property
    def observes(self) -> bool:
        """Never."""
        return False

    def reset(self, n: int, stream: Stream) -> None:
        """Starts n streams."""
        self._streams = [stream.child(i) for i in range(n)]

    def act(self, env: Oracle, obs: Images | None, step: int) -> Decision:  # noqa: ARG002  chance looks at nothing
        """Draws."""
        box = Bounds.of(self.spec.action_low, self.spec.action_high)
        return Decision(np.stack([box.draw(item) for item in self._streams]), np.zeros(len(self._streams), dtype=bool))


@dataclass(slots=True)
class ZeroAgent:
    """Does nothing: the action in the box that is nearest to zero."""

    spec: EnvSpec
    _n: int = field(init=False, default=0)

    @property
    def observes(self) -> bool:
        """Never."""
        return False

    def reset(self, n: int, stream: Stream) -> None:  # noqa: ARG002  nothing is drawn
        """Remembers how many."""
        self._n = n

    def act(self, env: Oracle, obs: Images | None, step: int) -> Decision:  # noqa: ARG002  it looks at nothing
        """Always the same."""
        box = Bounds.of(self.spec.action_low, self.spec.action_high)
        return Decision(np.tile(box.inside(np.zeros(box.low.size)), (self._n, 1)), np.zeros(self._n, dtype=bool))
