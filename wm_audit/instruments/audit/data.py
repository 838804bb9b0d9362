"""The data of one environment and seed, shared by all capacities, and the probes cut from it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from wm_audit.core import Measurement, stream
from wm_audit.data import (
    Behaviour,
    Counterfactual,
    Dataset,
    Segments,
    assemble,
    build_once,
    check,
    collect,
    correlated,
    counterfactual,
    held,
    segments,
    uniform,
)
from wm_audit.envs import Oracle, make
from wm_audit.instruments.audit.protocol import Setting, data_purpose, short
from wm_audit.policy.behaviour import oracle_behaviour
from wm_audit.policy.cem import CemSettings
from wm_audit.prereg.audit_config import AuditConfig

_CHECK_STEPS = 2000


class Probes(NamedTuple):
    """What a model is asked on one evaluation stream."""

    segments: Segments
    counterfactual: Counterfactual


def world(config: AuditConfig, env: str) -> Oracle:
    """The environment as the promise sets it."""
    return make(env, config.environments[env])


def dataset(setting: Setting, env: str, seed: int) -> Dataset:
    """The data set of this environment and seed; the first process that needs it builds it, the others wait.

    Raises:
        AuditError: what stands there is not whole, or was made for something else.
    """
    config, purpose = setting.config, data_purpose(setting, env, seed)

    def build() -> Dataset:
        return record(config, env, seed, steps=config.section("collection")["steps"])

    return build_once(setting.folder / "data" / f"{env}-seed{seed}-{short(purpose)}", build, verify=True, made_for=purpose)


def record(config: AuditConfig, env: str, seed: int, *, steps: int) -> Dataset:
    """Collects and splits; the oracle planner among the behaviours plans as the evaluation does."""
    recorded, collection, root = world(config, env), config.section("collection"), config.executed["root"]
    mixture = collection["behaviours"]
    behaviours = {name: _behaviour(name, entry, planner(config)) for name, entry in mixture.items()}
    shares = {name: entry["share"] for name, entry in mixture.items()}
    episodes = collect(recorded, behaviours, shares, steps, root=root, seed=seed)
    return assemble(episodes, recorded.spec, collection["split"], root, seed)


def planner(config: AuditConfig) -> CemSettings:
    """The search of every plan, in imagination and in the true world alike."""
    return CemSettings(**{name: item for name, item in config.section("planning").items() if name != "discount"})


def probes(config: AuditConfig, data: Dataset, env: str, index: int) -> Probes:
    """Held-out segments and counterfactual states of evaluation stream `index`; the same for every capacity."""
    sizes, seed = config.section("evaluation"), data.collection["seed"]
    source = stream(config.executed["root"], "evaluate", env, seed, "probes", index)
    cut = segments(data, "held_out", sizes["segments"], context=sizes["context"], horizon=sizes["horizon"], stream=source.child("segments"))
    tried = counterfactual(
        data,
        world(config, env),
        n_states=sizes["probe_states"],
        n_actions=sizes["probe_actions"],
        hold=sizes["probe_hold"],
        context=sizes["context"],
        stream=source.child("counterfactual"),
    )
    return Probes(cut, tried)


def probe_check(config: AuditConfig, env: str) -> Measurement:
    """Before anything is trained: the share of probe states that tell their actions apart, on a small recording of its own."""
    steps = min(_CHECK_STEPS, config.section("collection")["steps"])
    small = record(config, env, config.seeds[0], steps=steps)
    sizes = config.section("evaluation")
    tried = counterfactual(
        small,
        world(config, env),
        n_states=min(sizes["probe_states"], len(small.split["probe"])),
        n_actions=sizes["probe_actions"],
        hold=sizes["probe_hold"],
        context=sizes["context"],
        stream=stream(config.executed["root"], "check", env),
    )
    return check(tried)


def _behaviour(name: str, entry: Mapping[str, Any], search: CemSettings) -> Behaviour:
    if name == "uniform":
        return uniform
    if name == "held":
        return held(int(entry["steps"]))
    if name == "correlated":
        return correlated(float(entry["correlation"]), float(entry["scale"]))
    return oracle_behaviour(search, (float(entry["noise"]["least"]), float(entry["noise"]["most"])))
