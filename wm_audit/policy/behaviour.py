"""The oracle planner as a source of recorded episodes."""

from collections.abc import Sequence

from wm_audit.core import Stream
from wm_audit.data.behaviours import Act, Behaviour, Now, noisy
from wm_audit.envs.protocol import Oracle
from wm_audit.policy.bounds import Bounds, Floats
from wm_audit.policy.cem import CemSettings
from wm_audit.policy.mpc import RecedingHorizon
from wm_audit.policy.score import scratch_score


def oracle_behaviour(settings: CemSettings, noise: float | tuple[float, float] = 0.0, *, discount: float = 1.0) -> Behaviour:
    """Plans on the true dynamics from the true state, and adds noise so that the episodes differ.

    Args:
        settings: of the search.
        noise: standard deviation in half ranges of the action box, or a range that each episode's is drawn from.
        discount: of the rewards inside the search.
    """

    def planner(env: Oracle, streams: Sequence[Stream]) -> Act:
        memory = RecedingHorizon(Bounds.of(env.spec.action_low, env.spec.action_high), settings)
        memory.reset(streams)
        scratch = env.fork()

        def act(now: Now) -> Floats:
            return memory.decide(scratch_score(scratch, env.snapshot(), discount=discount), now.step, now.rows).action

        return act

    return noisy(planner, noise)
