"""One worker process: spawned and never forked, with one thread, and buried whatever it leaves behind.

A forked child inherits locks that another thread may hold (pytorch#17199) and renderers that no longer work; a spawned one
starts clean. One thread each keeps the bytes of a cell the same whatever the number of workers is.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.resource_tracker import ensure_running
from typing import Any

from wm_audit.core import Key
from wm_audit.run.worker import Task, Work, serve

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1")
NOTHING, END = object(), object()
"""In place of a message: none has come; none will come any more."""


@dataclass(eq=False, slots=True)
class Worker:
    """A process, our end of its pipe, and the task it has, with the cells that are still open."""

    process: BaseProcess
    connection: Connection
    task: Task | None = None
    open: tuple[Key, ...] = ()
    attempt: int = 1


def hire(work: Work, prepare: Callable[[], None] | None, register: Callable[[Worker], None]) -> Worker:
    """Starts a worker.

    Args:
        work: makes the cells of one task.
        prepare: called once before the first task.
        register: is given the worker before an interrupt can come between.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=serve, args=(there, work, prepare), name="wm-audit-worker")
    with _one_thread(), _interrupts_later():
        process.start()
        there.close()  # now the pipe breaks when the worker dies
        worker = Worker(process, here)
        register(worker)
    return worker


def news_of(worker: Worker) -> Any:
    """Its next message; `NOTHING` where it has said nothing new, `END` where it will say nothing more.

    A child that a worker forked may outlive it and hold its ends of pipe and sentinel open: then neither breaks, and only the
    process itself says that it is dead.
    """
    dead = worker.process.exitcode is not None  # asked first: what it said before it died is then in the pipe
    try:
        if worker.connection.poll():
            return worker.connection.recv()
    except (EOFError, OSError):
        return END
    return END if dead else NOTHING


def stop(worker: Worker) -> None:
    """Kills it, if it is alive, and closes our ends."""
    worker.process.kill()
    worker.process.join()
    worker.connection.close()


def ending(code: int | None) -> str:
    """How a process ended, in words."""
    if code is None or code >= 0:
        return f"its process ended by itself (exit code {code})"
    name = signal.Signals(-code).name
    return f"its process was ended by {name}" + (" (out of memory? lower --jobs)" if name == "SIGKILL" else "")


@contextmanager
def _one_thread() -> Iterator[None]:
    """Numerical libraries read these names once, when they are loaded; the child inherits them, this process keeps its own."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """A child started here never sees Ctrl-C, which a terminal sends to every process: its parent ends it; here it comes afterwards.

    The tracker that the first child would bring up unblocks the signal again, so it is brought up before.
    """
    ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
