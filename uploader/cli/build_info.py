"""What a program says of its own build, as `inspect` tells it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from uploader.words import count

if TYPE_CHECKING:
    from uploader.objects.elf.go_build_info import GoBuildInfo, Module

_TOLD_APART = ("vcs.revision", "vcs.time", "vcs.modified")


def build_page(built: GoBuildInfo) -> dict[str, Any]:
    """The members of a JSON document."""
    return {
        "toolchain": built.toolchain,
        "package": built.package or None,
        "module": None if built.main is None else _module(built.main),
        "revision": built.setting("vcs.revision") or None,
        "revision_time": built.setting("vcs.time") or None,
        "modified": built.build.modified,
        "settings": dict(built.settings),
        "dependencies": [_module(one) for one in built.dependencies],
    }


def build_rows(page: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Labels and values for people."""
    yield "built by", page["toolchain"]
    module = page["module"]
    if module is not None:
        yield "module", f"{module['path']} {module['version'] or ''}".rstrip()
    if page["package"] and (module is None or page["package"] != module["path"]):
        yield "main package", page["package"]
    if page["revision"]:
        when = f", of {page['revision_time']}" if page["revision_time"] else ""
        yield "revision", page["revision"] + when + (", with changes that are in no commit" * page["modified"])
    for name, value in page["settings"].items():
        if value and name not in _TOLD_APART:
            yield "setting", f"{name}={value}"
    if page["dependencies"]:
        yield "made of", count(len(page["dependencies"]), "module") + " besides (--json names them)"


def _module(module: Module) -> dict[str, Any]:
    return {"path": module.path, "version": module.version or None, "replaced_by": module.replaced_by or None}
