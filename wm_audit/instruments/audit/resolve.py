"""What `--model` names: a built-in family, a function in a file, or a checkpoint."""

import hashlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wm_audit.core import UsageError
from wm_audit.core.files import sha256_file
from wm_audit.deploy import load_model
from wm_audit.models import MODELS, Task

Family = Callable[[Task], Any]


def family(name: str) -> Family:
    """The function that answers a `Task`: from `MODELS`, from FILE.py:NAME, or one that always gives a checkpoint's model.

    Naming a .py file is consent to run it.

    Raises:
        UsageError: nothing answers to this name.
    """
    if name in MODELS:
        return MODELS[name]
    path, _, attribute = name.rpartition(":")
    if path.endswith(".py"):
        return _from_file(Path(path), attribute)
    if Path(name).is_dir():
        model = load_model(Path(name))
        return lambda task: model  # noqa: ARG005  a checkpoint is what it is
    known = ", ".join(MODELS)
    raise UsageError(f"found {name!r}", where="--model", expected=f"{known}, FILE.py:NAME or a checkpoint folder", fix="correct the name")


def model_digest(name: str) -> str | None:
    """sha256 of the file behind a name, or of a checkpoint's description.

    None for a built-in family, whose sources are digested anyway.

    Raises:
        UsageError: nothing answers to this name.
    """
    if name in MODELS:
        return None
    family(name)
    path = Path(name.rpartition(":")[0])
    if path.suffix == ".py":
        return sha256_file(path)
    return sha256_file(Path(name) / "model.json")  # it names the weights by their digest


def _from_file(path: Path, attribute: str) -> Family:
    if not path.is_file():
        raise UsageError("there is no such file", where=f"--model {path}", expected="FILE.py:NAME", fix="check the path")
    module_name = "wm_audit_user_" + hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise UsageError("is not a Python file", where=f"--model {path}", expected="FILE.py:NAME")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # a stranger's file may raise anything, and every one of them is one line here
        what = f"cannot be imported: {type(error).__name__}: {error}"
        raise UsageError(what, where=f"--model {path}", expected="a Python file that runs", fix=f"try python {path}") from error
    found = getattr(module, attribute, None)
    if not callable(found):
        raise UsageError(f"holds no function {attribute!r}", where=f"--model {path}", expected="a function of a Task", fix="check NAME")
    return found  # type: ignore[no-any-return]
