"""What this machine is, as far as the last bits of a number depend on it."""

import platform
import random
from pathlib import Path
from typing import Any

import numpy as np
import torch

from wm_audit.core import stream
from wm_audit.deploy.int8 import ENGINE
from wm_audit.instruments.audit.data import world
from wm_audit.prereg.audit_config import AuditConfig
from wm_audit.run.provenance import environment


def one_thread() -> None:
    """Every worker computes with one thread: the number of workers then never moves a bit."""
    torch.set_num_threads(1)


def fence(root: int, *names: str | int) -> None:
    """Puts every global that a model brought by a user may have moved, or draws from, where a fresh worker has it.

    The package itself draws from named streams alone; this makes what a stranger's code does depend on the cell and not on the cells
    that its process made before.

    Args:
        root: the experiment's root seed.
        names: of what is done next.
    """
    draws = stream(root, "globals", *names)
    random.seed(draws.seed())
    np.random.seed(draws.seed() % 2**32)  # noqa: NPY002 - the generator that users of the old interface share
    torch.manual_seed(draws.seed())
    one_thread()
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    torch.set_grad_enabled(True)
    torch.set_flush_denormal(False)
    torch.set_float32_matmul_precision("highest")
    torch.use_deterministic_algorithms(False)
    np.seterr(divide="warn", over="warn", under="ignore", invalid="warn")


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
