"""The promise speaks of the code that exists: every setting has a reader, every diagnostic its entry."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wm_audit.core import stream
from wm_audit.deploy.twins import LEVERS
from wm_audit.diagnostics import DIAGNOSTICS, EXTRAS
from wm_audit.envs import make
from wm_audit.models import MODELS, Task
from wm_audit.policy.cem import CemSettings
from wm_audit.policy.closed_loop import MIN_STARTS
from wm_audit.prereg.audit_config import AuditConfig, load_config
from wm_audit.prereg.promise import load_promise
from wm_audit.prereg.promise_schema import EVALUATION
from wm_audit.prereg.schema import Whole
from wm_audit.train import Settings

RUNS = ("smoke_pixel_nav", "pilot_pixel_nav", "main_pixel_nav", "main_pixel_nav_full", "main_pixel_nav_20")


@pytest.fixture(params=RUNS)
def run(request: pytest.FixtureRequest, configs: Path) -> AuditConfig:
    """One run of the project after the other."""
    return load_config(configs / "audit" / f"{request.param}.yaml")


def described(item: Any) -> tuple[Any, ...]:
    return item["orientation"], item["unit"], tuple(item["groups"])


def test_diagnostics_are_those_of_the_catalogue(configs: Path) -> None:
    data = load_promise(configs / "preregistration.yaml").data
    code = {name: (item.orientation, item.unit, item.groups) for name, item in DIAGNOSTICS.items()}
    assert {name: described(item) for name, item in data["diagnostics"].items()} == code
    for name, item in data["extras"].items():
        assert described(item) == (EXTRAS[name].orientation, EXTRAS[name].unit, EXTRAS[name].groups)


def test_every_environment_can_be_made_and_every_setting_of_it_is_promised(configs: Path) -> None:
    for name, settings in load_promise(configs / "preregistration.yaml").data["environments"].items():
        world = make(name, settings)
        assert world.spec.id == name
        assert set(world.spec.settings) == set(settings)


def test_levers_exist(configs: Path) -> None:
    assert set(load_promise(configs / "preregistration.yaml").data["levers"]) <= set(LEVERS)


def test_every_run_can_be_planned_trained_and_started(run: AuditConfig) -> None:
    planning = run.section("planning")
    assert CemSettings(**{name: item for name, item in planning.items() if name != "discount"}).candidates == planning["candidates"]
    training = {name: item for name, item in run.section("training").items() if name != "compiled"}
    assert {item.name for item in fields(Settings)} == set(training)
    assert Settings(**training).warmup < training["steps"]
    assert EVALUATION.of["starts"] == Whole(low=MIN_STARTS)
    for env in run.environments.values():
        episodes = -(-run.section("collection")["steps"] // env["limit"])
        least = min(item["share"] for item in run.section("collection")["behaviours"].values())
        assert int(episodes * least) >= 3  # one for each split


def test_the_model_can_be_built_from_its_section(run: AuditConfig) -> None:
    settings = run.section("model")
    hidden, embed = run.capacities[0]
    streams = tuple(stream(1, "initial", index) for index in range(settings["members"]))
    task = Task((3, 32, 32), 2, hidden, embed, settings, streams, np.zeros((3, 32, 32), np.float32), lambda function: function)
    assert MODELS["dreamer_lite"](task).trained().members == settings["members"]
