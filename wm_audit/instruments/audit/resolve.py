"""What `--model` names: a built-in family, a function in a file, or a checkpoint."""

import hashlib
import importlib.util
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from wm_audit.core import AuditError, UsageError
from wm_audit.core.files import sha256_file
from wm_audit.deploy import load_model
from wm_audit.models import MODELS, Task
from wm_audit.models.dreamer_lite import DreamerLite

Family = Callable[[Task], Any]
_PACKAGES = {"site-packages", "dist-packages"}


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
        model = checkpoint(name)
        return lambda task: model  # noqa: ARG005  a checkpoint is what it is
    known = ", ".join(MODELS)
    raise UsageError(f"found {name!r}", where="--model", expected=f"{known}, FILE.py:NAME or a checkpoint folder", fix="correct the name")


def checkpoint(name: str) -> DreamerLite | None:
    """The model of a checkpoint folder; None where the name is no folder's.

    Raises:
        UsageError: the folder holds no whole checkpoint.
    """
    if name in MODELS or not Path(name).is_dir():
        return None
    try:
        return load_model(Path(name))
    except AuditError as error:
        raise UsageError(error.what, where=f"--model {error.where}", expected=error.expected, fix=error.fix) from error


def model_files(name: str) -> dict[str, str]:
    """sha256 of every file behind a name: a checkpoint's description, or a Python file and all modules of its folder in use by now.

    Empty for a built-in family, whose sources are digested anyway. What a Python file reads as data is not seen.

    Raises:
        UsageError: nothing answers to this name.
    """
    if name in MODELS:
        return {}
    path = Path(name.rpartition(":")[0])
    if path.suffix != ".py":
        return {"model.json": sha256_file(Path(name) / "model.json")}  # it names the weights by their digest
    folder = path.resolve().parent
    return {file.relative_to(folder).as_posix(): sha256_file(file) for file in sorted({path.resolve(), *_beneath(folder)})}


def require_files(name: str, begun_with: Mapping[str, str]) -> None:
    """Refuses a model whose files are no longer those that the run began with, or are more of them.

    Raises:
        AuditError: names the file.
    """
    for file, digest in model_files(name).items():
        if file not in begun_with:
            what, fix = f"imports {file} only while it works", "import it at the top of the model's file, so that --resume sees its changes"
            raise AuditError(what, where=f"--model {name}", expected="every import done when the model is built", fix=fix)
        if begun_with[file] != digest:
            raise AuditError(
                "was changed while the run went on", where=f"--model {name}: {file}", expected=begun_with[file], fix="run again"
            )


def _beneath(folder: Path) -> Iterator[Path]:
    """Source files of loaded modules that lie beneath a folder and are neither installed, nor this project's, nor the program itself."""
    own = Path(__file__).resolve().parents[3]
    installed = {sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
    passed = (own / "wm_audit", own / "experiments", *(Path(place).resolve() for place in installed))
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name in ("__main__", "__mp_main__") or not isinstance(file, str):
            continue
        path = Path(file).resolve()
        if not path.is_relative_to(folder) or not path.is_file() or _PACKAGES & {*path.parts}:
            continue
        if not any(path.is_relative_to(place) for place in passed):
            yield path


def _from_file(path: Path, attribute: str) -> Family:
    if not path.is_file():
        raise UsageError("there is no such file", where=f"--model {path}", expected="FILE.py:NAME", fix="check the path")
    module_name = "wm_audit_user_" + hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise UsageError("is not a Python file", where=f"--model {path}", expected="FILE.py:NAME")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses and pickle look a class's module up by its name
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a stranger's file may raise anything, and every one of them is one line here
        what = f"cannot be imported: {type(error).__name__}: {error}"
        raise UsageError(what, where=f"--model {path}", expected="a Python file that runs", fix=f"try python {path}") from error
    found = getattr(module, attribute, None)
    if not callable(found):
        raise UsageError(f"holds no function {attribute!r}", where=f"--model {path}", expected="a function of a Task", fix="check NAME")
    return found  # type: ignore[no-any-return]
