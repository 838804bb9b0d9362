"""`--jobs N`: N worker processes, spawned and never forked, each with one thread, fed one group at a time.

A forked child inherits locks that another thread may hold (pytorch#17199) and renderers that no longer work; a spawned one
starts clean. One thread each keeps the bytes of a cell the same whatever N is; N = 1 is a spawned worker too.
"""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.resource_tracker import ensure_running

from wm_audit.core import Key, UsageError
from wm_audit.run.worker import Broken, Made, Note, Over, Task, Work, serve

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1")
_ATTEMPTS = 2
_GO_HOME_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Begun:
    """A worker took the task."""


@dataclass(frozen=True, slots=True)
class Died:
    """A worker was killed or ended itself; the task's open cells will be tried again in a fresh one."""

    line: str


Event = Begun | Made | Broken | Note | Over | Died


@dataclass(eq=False, slots=True)
class _Worker:
    """A process, our end of its pipe, and the task it has, with the cells that are still open."""

    process: BaseProcess
    connection: Connection
    task: Task | None = None
    open: tuple[Key, ...] = ()
    attempt: int = 1


class Pool:
    """Workers that make groups of cells."""

    def __init__(self, work: Work, *, jobs: int, prepare: Callable[[], None] | None = None, fresh: bool = False) -> None:
        """Nothing is started yet.

        Args:
            work: makes the cells of one task, inside a worker.
            jobs: how many workers.
            prepare: called once in every worker before its first task; a top-level function.
            fresh: whether a worker makes one task and goes home, so that no task finds what another left behind in its process.

        Raises:
            UsageError: `jobs` is smaller than 1.
        """
        if jobs < 1:
            raise UsageError(f"found {jobs}", where="--jobs", expected="at least 1", fix="write the number of cores to use")
        self._work, self._jobs, self._prepare, self._fresh = work, jobs, prepare, fresh
        self._workers: list[_Worker] = []
        self._leaving: list[_Worker] = []
        self._waiting: deque[tuple[Task, int]] = deque()

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Event], None, None]:
        """Makes all tasks, beginning them in order, and yields what happens as it happens; closing the iterator ends all workers.

        A worker that dies takes no task with it: its open cells are tried once more in a fresh process, then reported as broken.
        """
        self._waiting = deque((task, 1) for task in tasks)
        try:
            while self._waiting or self._busy():
                yield from self._begin()
                yield from self._hear()
            self._send_home()
        finally:
            self._end()

    def _busy(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.task is not None]

    def _begin(self) -> Iterator[tuple[Task, Event]]:
        """Hands waiting tasks to idle workers, and to new ones up to `jobs`."""
        while self._waiting and len(self._busy()) < self._jobs:
            idle = [worker for worker in self._workers if worker.task is None]
            worker = idle[0] if idle else self._hire()
            task, worker.attempt = self._waiting.popleft()
            worker.task, worker.open = task, tuple(cell.key for cell in task.cells)
            try:
                worker.connection.send(task)
            except (BrokenPipeError, ConnectionResetError):
                continue  # it died idle: its pipe says so when it is read
            yield task, Begun()

    def _hear(self) -> Iterator[tuple[Task, Event]]:
        """Waits for news and takes one message from every worker that has some."""
        ready = wait([worker.connection for worker in self._busy()])
        for worker in [worker for worker in self._busy() if worker.connection in ready]:
            task = worker.task
            if task is None:
                continue
            try:
                event = worker.connection.recv()
            except (EOFError, OSError):
                yield task, self._bury(worker, task)
                continue
            if isinstance(event, Made):
                worker.open = tuple(key for key in worker.open if key != event.row.key)
            if isinstance(event, Broken):
                worker.open = tuple(key for key in worker.open if key not in event.keys)
            if isinstance(event, Over):
                worker.task = None
                if self._fresh:
                    self._dismiss(worker)
            yield task, event

    def _bury(self, worker: _Worker, task: Task) -> Event:
        """Takes a dead worker off the list; its open cells wait for another, once."""
        self._workers.remove(worker)
        _stop(worker)
        line = _ending(worker.process.exitcode)
        left = tuple(cell for cell in task.cells if cell.key in worker.open)
        if not left:
            return Over()
        if worker.attempt >= _ATTEMPTS:
            return Broken(worker.open, f"{line}, {_ATTEMPTS} times", "")
        self._waiting.appendleft((Task(task.group, left), worker.attempt + 1))
        return Died(line)

    def _hire(self) -> _Worker:
        here, there = multiprocessing.get_context("spawn").Pipe()
        process = multiprocessing.get_context("spawn").Process(
            target=serve, args=(there, self._work, self._prepare), name="wm-audit-worker"
        )
        with _one_thread(), _interrupts_later():
            process.start()
            there.close()  # now the pipe breaks when the worker dies
            worker = _Worker(process, here)
            self._workers.append(worker)
        return worker

    def _dismiss(self, worker: _Worker) -> None:
        """Tells an idle worker to go home, and does not wait until it is gone."""
        self._workers.remove(worker)
        self._leaving.append(worker)
        with suppress(BrokenPipeError, ConnectionResetError):
            worker.connection.send(None)

    def _send_home(self) -> None:
        for worker in list(self._workers):
            self._dismiss(worker)
        for worker in self._leaving:
            worker.process.join(_GO_HOME_SECONDS)

    def _end(self) -> None:
        for worker in (*self._workers, *self._leaving):
            _stop(worker)
        self._workers.clear()
        self._leaving.clear()


def _stop(worker: _Worker) -> None:
    worker.process.kill()
    worker.process.join()
    worker.connection.close()


def _ending(code: int | None) -> str:
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
