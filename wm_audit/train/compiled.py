"""Compilation of a loss function, where this machine can."""

import os
import shutil
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import torch

P = ParamSpec("P")
R = TypeVar("R")


def compiler() -> str | None:
    """The C++ compiler to compile with, or None: CXX, then g++, then clang++."""
    named = os.environ.get("CXX")
    return next((path for name in (named, "g++", "clang++") if name and (path := shutil.which(name))), None)


def compiled(function: Callable[P, R], *, wanted: bool = True) -> Callable[P, R]:
    """The function compiled to machine code for fixed shapes, or as it is where that is unwanted or impossible.

    Compiled and eager runs round differently, so which of the two it was belongs to the environment's digest: ask `is_compiled`.
    """
    found = compiler()
    if found is None or not is_compiled(wanted=wanted):
        return function
    torch._inductor.config.cpp.cxx = (None, found)  # noqa: SLF001  left alone, torch asks for CXX or g++ and nothing else
    torch._dynamo.config.cache_size_limit = 64  # noqa: SLF001  one entry per shape; a grid has a few
    torch._dynamo.config.trace_autograd_ops = True  # noqa: SLF001  a step contains its own backward pass: one graph, one call
    return torch.compile(function, dynamic=False, fullgraph=True, options={"cpp_wrapper": True})


def is_compiled(*, wanted: bool) -> bool:
    """Whether `compiled` compiles here."""
    return wanted and compiler() is not None and _has_headers()


def missing() -> str:
    """One line for people whose machine cannot compile."""
    what = "no C++ compiler was found" if compiler() is None else "the Python headers are missing"
    fix = "Debian: apt-get install g++ python3-dev; macOS: xcode-select --install"
    return f"training runs uncompiled and several times slower: {what} ({fix})"


def _has_headers() -> bool:
    return (Path(sysconfig.get_paths()["include"]) / "Python.h").is_file()
