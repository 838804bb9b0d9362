"""The measuring bench of one environment and seed: any model is put on it and measured in the same way."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from wm_audit.core import Key, Measurement, Reason, Row, stream
from wm_audit.data import Dataset
from wm_audit.diagnostics import DIAGNOSTICS, EXTRAS, Evidence, Parameters, measure_all
from wm_audit.instruments.audit.data import planner, probes, world
from wm_audit.instruments.audit.protocol import TRAINED, Setting, measured_names
from wm_audit.models.protocol import Rewards, WorldModel
from wm_audit.policy.agents import Agent, ModelAgent
from wm_audit.policy.closed_loop import Returns, closed_loop, start_states, summary

T = TypeVar("T")
Measured = tuple[dict[str, Measurement], dict[str, Any]]


@dataclass(slots=True)
class Bench:
    """What all measurements of a group of cells share.

    Attributes:
        setting: the run.
        env: the environment's id.
        data: its data set.
        seconds: of the stages; they go to the timings, never into a row.
    """

    setting: Setting
    env: str
    data: Dataset
    seconds: dict[str, float] = field(default_factory=dict)

    def time(self, stage: str, work: Callable[[], T]) -> T:
        """Runs a stage and adds its time."""
        begun = time.monotonic()
        result = work()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.monotonic() - begun
        return result

    def diagnostics(self, model: WorldModel, index: int) -> Measured:
        """All measurements of a model on evaluation stream `index`, and their details."""
        config = self.setting.config
        asked = self.time("probes", lambda: probes(config, self.data, self.env, index))
        evidence = Evidence(model, asked.segments, asked.counterfactual, parameters(config.section("evaluation")))
        return self.time("diagnostics", lambda: measure_all(evidence, measured_names(config)))

    def row(self, key: Key, model: WorldModel, measured: Measured) -> Row:
        """The measurements with the closed-loop return of planning through the model."""
        diagnostics, details = measured
        manifest = self._lineage(key)
        if not isinstance(model, Rewards):
            return Row(key, Measurement.null(Reason.NO_REWARD_HEAD, unit="return", orientation=1), diagnostics, details, manifest)
        config = self.setting.config
        returns = self.returns(ModelAgent(model, self.data.env, planner(config), config.section("planning")["discount"]))
        loop = {"returns": returns.value.tolist(), "nonfinite_plans": int(returns.nonfinite_plans.sum())}
        return Row(key, summary(returns), diagnostics, loop | details, manifest)

    def null_row(self, key: Key, reason: Reason) -> Row:
        """A row without numbers, every one of them with its reason."""
        known = DIAGNOSTICS | EXTRAS
        names = measured_names(self.setting.config)
        nulls = {name: Measurement.null(reason, unit=known[name].unit, orientation=known[name].orientation) for name in names}
        return Row(key, Measurement.null(reason, unit="return", orientation=1), nulls, {}, self._lineage(key))

    def _lineage(self, key: Key) -> dict[str, str]:
        """The data, and for a trained row the model: a family of this project by its name, anything else by its digest."""
        model = {"model": self.setting.model_digest or self.setting.model} if key.arm == TRAINED else {}
        return {"dataset": self.data.digest, **model}

    def returns(self, agent: Agent) -> Returns:
        """Closed loop from the start states that all cells share, with search noise that all cells share."""
        config = self.setting.config
        recorded, root = world(config, self.env), config.executed["root"]
        starts = start_states(recorded, config.section("evaluation")["starts"], stream(root, "evaluate", self.env, "starts"))
        search = stream(root, "evaluate", self.env, "search")
        return self.time("closed_loop", lambda: closed_loop(recorded, starts, agent, steps=recorded.spec.limit, stream=search))


def parameters(sizes: Mapping[str, Any]) -> Parameters:
    """The diagnostics' settings from the `evaluation` section of the promise."""
    features = {
        "lpips_frames": sizes["frames"],
        "fvd_clips": sizes["clips"],
        "fvd_components": sizes["clip_components"],
        "filter_seeds": sizes["filter_banks"],
    }
    return Parameters(batch=sizes["batch"], bins=sizes["bins"], features=features)
