"""Several processes want the same data set: one builds it, the others wait."""

import fcntl
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from wm_audit.core import AuditError
from wm_audit.core.made_for import Purpose
from wm_audit.data.dataset import Dataset, load
from wm_audit.data.folder import temporaries


def build_once(path: Path, build: Callable[[], Dataset], *, verify: bool = False, made_for: Purpose | None = None) -> Dataset:
    """The data set at `path`, built and saved by exactly one process if it is not there.

    The lock is the operating system's (flock on `.NAME.lock` beside the folder): it ends with the process that holds
    it, however that ends, and the next in line builds anew after removing what the dead writer left.

    Args:
        path: the folder; its name should tell this data set from every other.
        build: makes the data set; called at most once, under the lock.
        verify: as in `load`.
        made_for: written beside a data set that is built, and required of one that is there.

    Raises:
        AuditError: the folder is there but torn, changed or made for something else, or the place cannot be written.
    """
    if not path.exists():
        with _alone(path):
            if not path.exists():
                for leftover in temporaries(path):
                    shutil.rmtree(leftover, ignore_errors=True)
                build().save(path, made_for)
    return load(path, verify=verify, made_for=made_for)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Holds the lock of `path`; the lock file stays, since removing it would let two processes hold different files."""
    lock = path.parent / f".{path.name}.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = lock.open("ab")
    except OSError as error:
        raise AuditError(f"cannot be opened ({error.strerror})", where=str(lock), expected="a writable place") from error
    with handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
