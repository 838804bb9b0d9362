"""What an environment is: n copies of one world, stepped and rendered together.

    obs[0] --action[0]--> reward[0], obs[1] --action[1]--> reward[1], obs[2] ...

Shapes: n copies, A action dimensions, image `C h w` (uint8 RGB), S numbers of physical state.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import Stream

Images = NDArray[np.uint8]  # (n, C, h, w)
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class EnvSpec:
    """What a planner, a model and a results file must know of a world.

    Attributes:
        id: the environment's one id, e.g. "pixel_nav".
        image: (C, h, w) of an observation.
        action_low, action_high: bounds, one number per action dimension.
        limit: steps per episode; reaching it is truncation, never termination.
        step_seconds: duration of one step in the world's own time.
        reward: "dense" or "sparse".
        distractor: the visually large, dynamically irrelevant part ("none" where there is none).
        cue: the visually tiny, decisive part ("none" where there is none).
        renderer: name and version of what draws the images; merging refuses a mix.
        settings: every setting the world was made with, as JSON types.
    """

    id: str
    image: tuple[int, int, int]
    action_low: tuple[float, ...]
    action_high: tuple[float, ...]
    limit: int
    step_seconds: float
    reward: str
    distractor: str
    cue: str
    renderer: str
    settings: dict[str, Any] = field(default_factory=dict)


class Outcome(NamedTuple):
    """What one step did, without the picture: reward (n,), terminated (n,), truncated (n,)."""

    reward: Floats
    terminated: Bools
    truncated: Bools


class Step(NamedTuple):
    """What one step did: obs (n, C, h, w), reward (n,), terminated (n,), truncated (n,)."""

    obs: Images
    reward: Floats
    terminated: Bools
    truncated: Bools


class Env(Protocol):
    """n copies of a world. Copies never influence each other; nothing resets by itself."""

    @property
    def spec(self) -> EnvSpec:
        """What this world is."""
        ...

    @property
    def n(self) -> int:
        """How many copies are running."""
        ...

    def reset(self, stream: Stream, n: int) -> Images:
        """Starts n fresh copies; all randomness of an episode is drawn here, copy i's draws do not depend on n."""
        ...

    def step(self, action: Floats) -> Step:
        """Advances every copy by one step; `action` is (n, A), clipped to the bounds."""
        ...


class Oracle(Env, Protocol):
    """An environment whose state can be taken out and put back; replaying the same actions is bit-exact."""

    def advance(self, action: Floats) -> Outcome:
        """`step` without drawing."""
        ...

    def render(self) -> Images:
        """The current observation of every copy."""
        ...

    def snapshot(self) -> Floats:
        """(n, S): everything that the future depends on, step counter included."""
        ...

    def restore(self, snapshot: Floats) -> None:
        """Puts (m, S) states back; the world then has m copies."""
        ...

    def fork(self) -> Self:
        """An independent world with the same settings, for planners and probes to restore into."""
        ...
