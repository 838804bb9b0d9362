"""What a stored piece was made for, and whether that is what is asked for now."""

from collections.abc import Mapping

from wm_audit.core.errors import AuditError

Purpose = Mapping[str, str | int]
"""Everything a piece depends on by name, long things as their digests: {"env": "pixel_nav", "seed": 3, "sources": "sha256:..."}."""


def require_same(found: object, wanted: Purpose, *, where: str, fix: str) -> None:
    """Refuses a piece that was made for something else: a swapped folder is whole in itself, and only this gives it away.

    Raises:
        AuditError: names the first difference.
    """
    stated = found if isinstance(found, Mapping) else {}
    for name in [*wanted, *(name for name in stated if name not in wanted)]:
        if name not in stated or name not in wanted or stated[name] != wanted[name]:
            what = f"was made for {name} {stated.get(name, 'nothing')!r}"
            raise AuditError(what, where=where, expected=f"{name} {wanted.get(name, 'nothing')!r}, which this cell asks for", fix=fix)
