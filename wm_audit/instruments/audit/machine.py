"""What this machine is, as far as the last bits of a number depend on it."""

import platform
from pathlib import Path
from typing import Any

import torch

from wm_audit.deploy.int8 import ENGINE
from wm_audit.instruments.audit.data import world
from wm_audit.prereg.audit_config import AuditConfig
from wm_audit.run.provenance import environment


def one_thread() -> None:
    """Every worker computes with one thread: the number of workers then never moves a bit."""
    torch.set_num_threads(1)


def environment_of(config: AuditConfig, *, compiled: bool) -> dict[str, Any]:
    """The environment that resume and merge compare."""
    renderers = sorted({world(config, env).spec.renderer for env in config.environments})
    facts = {
        "torch": torch.__version__,
        "capability": torch.backends.cpu.get_cpu_capability(),
        "processor": _processor(),
        "python": platform.python_version(),
        "execution": "compiled" if compiled else "eager",
        "int8_engine": ENGINE,
        "renderer": ", ".join(renderers),
    }
    return environment(facts)


def _processor() -> str:
    """The processor's model where the system says it: two models of one capability may round a sine differently."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    found = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return " ".join(found.get(name, "") for name in ("model name", "cpu family", "model")).strip() or platform.machine()
