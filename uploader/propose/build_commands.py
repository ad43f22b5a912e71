"""Finds the binaries that the commands of a CI step build, and where they lie then; reads them as text, runs nothing."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Sequence

from uploader.propose import cargo_profile
from uploader.values import frozen, replace

WHEELS = "wheels"
"""`Built.packed` of commands that leave wheels, which have to be unpacked to be read."""


@frozen
class Built:
    """The binaries that one command builds."""

    name: str
    paths: tuple[str, ...]
    """The places of the binaries, from the folder in which the command runs."""
    ships: bool = False
    """The command is one that people run for what they ship."""
    debug_build: bool = False
    packed: str = ""
    hint: str = ""
    """Hints on how its symbols get good, a line for each."""
    profile: str = ""
    """The profile of Cargo that it builds; `hint` supposes that Cargo.toml says nothing of it."""
    configures: bool = False
    """The command makes a build ready, and leaves it to another to build."""
    guessed: bool = False
    """The command doesn't tell where the binaries lie."""


_CARGO = cargo_profile.hint("", "release")
_CMAKE_RELEASE = (
    "CMAKE_BUILD_TYPE=Release builds without -g: use RelWithDebInfo, and strip what ships after the symbols are sent."
)
_CIBUILDWHEEL = (
    "compiled modules need -g: CIBW_ENVIRONMENT: CFLAGS='-O2 -g' CXXFLAGS='-O2 -g', and no strip in the repair command."
)
_CMAKE_PRESET = "The preset says where the binaries lie: set `paths` to that."
_BAZEL = "Bazel builds without -g by itself: --copt=-g --strip=never."
_DOCKER = "it builds inside of an image, out of this job's sight: the container example tells how to store its symbols."

_BUILDS_NOTHING = {"test", "check", "clean", "docs", "doc", "format", "lint", "clang-format", "clang-tidy", "uninstall"}
_MAKE_TARGETS = {"all", "bin", "binary", "binaries", "compile", "static", "world"}
_CARGO_BY_VARIABLE = re.compile(r"\$.*(cargo|cross|build_?cmd)", re.IGNORECASE)


def built_by_action(uses: str, given: dict[str, str]) -> Built | None:
    """The binaries that an action of other people builds, by ``uses`` and ``with`` of a step."""
    action = uses.partition("@")[0].lower()
    if action == "goreleaser/goreleaser-action":
        return Built(name="GoReleaser", paths=("dist",), ships=True)
    if action == "pypa/cibuildwheel":
        folder = given.get("output-dir") or "wheelhouse"
        return Built(name="cibuildwheel", paths=(folder,), ships=True, packed=WHEELS, hint=_CIBUILDWHEEL)
    if action == "pyo3/maturin-action":
        words = _words(given.get("args", ""))
        folder = _folder(words, "--out", "-o") or "target/wheels"
        return Built(name="maturin", paths=(folder,), ships=True, packed=WHEELS, hint=_CARGO, profile="release")
    if action in ("houseabsolute/actions-rust-cross", "clechasseur/rs-cargo", "actions-rs/cargo"):
        words = ["cargo", given.get("command", "build"), *_words(given.get("args", ""))]
        if given.get("target"):
            words += ["--target", given["target"]]
        return _cargo(words)
    if action in ("docker/build-push-action", "docker/bake-action"):
        return Built(name="Docker", paths=(), ships=True, hint=_DOCKER)
    return None


def strips(script: str) -> bool:
    """Whether a shell script strips binaries."""
    return any(words[0].rpartition("/")[2].endswith("strip") for words in commands(script))


def builds(script: str) -> tuple[Built, ...]:
    """The binaries that each command of a shell script builds or configures, in order; paths from the folder where the script starts."""
    found, folders, last = [], [""], ""
    for words in commands(script):
        if words[0] in ("cd", "pushd"):
            target = next((word for word in words[1:] if word == "-" or not word.startswith("-")), "")
            here = folders[-1]
            entered = last if target == "-" else _entered(here, target)
            last = here
            folders = [*folders, entered] if words[0] == "pushd" else [*folders[:-1], entered]
        elif words[0] == "popd" and len(folders) > 1:
            folders.pop()
        built = next((one for one in (reads(words) for reads in _READERS) if one is not None), None)
        if built is not None:
            if folders[-1]:
                built = replace(built, paths=tuple(joined(folders[-1], path) for path in built.paths))
            found.append(built)
    return tuple(found)


def joined(folder: str, path: str) -> str:
    """A path as it is from the folder that holds ``folder``."""
    folder = folder.removeprefix("./").rstrip("/")
    path = _above_variables(path)
    if not folder or folder == "." or path.startswith(("/", "$")):
        return path
    whole = folder if path == "." else f"{folder}/{path.removeprefix('./')}"
    return posixpath.normpath(whole) if ".." in whole.split("/") else whole


def _above_variables(path: str) -> str:
    # A shell's variable means nothing to the next step: the folder above it does.
    shell = re.search(r"\$(?!\{\{)", path)
    if shell is None or path.startswith("$"):
        return path
    return path[: shell.start()].rpartition("/")[0] or "."


def _entered(folder: str, target: str) -> str:
    """The folder after ``cd target``; one that only the shell knows counts as the one above."""
    target = re.sub(r"^(\$GITHUB_WORKSPACE|\$\{GITHUB_WORKSPACE\})(?=/|$)", "${{ github.workspace }}", target)
    if not target or re.match(r"\$(?!\{\{)|~", target):
        return folder
    return joined(folder, target)


def commands(script: str) -> list[list[str]]:
    """The commands of a shell script as words, without what sets variables or wraps them; what can't be split is left out."""
    masked, expressions = _masked(re.sub(r"\\\n\s*", " ", script))
    found = []
    for line in re.split(r"[\n;]|&&|\|\|", masked):
        words = _split(line, expressions)
        while words and (re.fullmatch(r"\w+=.*", words[0]) or words[0] in _WRAPPERS):
            words = words[1:]
        if words:
            found.append(words)
    return found


_WRAPPERS = {"sudo", "env", "time", "exec", "nice", "then", "do", "if"}


def _words(text: str) -> list[str]:
    return _split(*_masked(text))


def _masked(text: str) -> tuple[str, list[str]]:
    """The text with GitHub's expressions, which hold spaces and stay one word, put aside."""
    expressions: list[str] = []

    def aside(matched: re.Match[str]) -> str:
        expressions.append(matched[0])
        return f"\x00{len(expressions) - 1}\x00"

    return re.sub(r"\$\{\{.*?\}\}", aside, text.replace("\x00", "")), expressions


def _split(masked: str, expressions: Sequence[str]) -> list[str]:
    try:
        words = shlex.split(masked, comments=True)
    except ValueError:
        words = masked.split()
    return [re.sub(r"\x00(\d+)\x00", lambda matched: expressions[int(matched[1])], word) for word in words]


def _value(words: Sequence[str], *flags: str) -> str:
    """The value that follows the last of ``flags``, as a word of its own or behind ``=``."""
    found = ""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        for flag in flags:
            if word == flag:
                found = following
            elif flag.startswith("--") and word.startswith(flag + "="):
                found = word[len(flag) + 1 :]
            elif not flag.startswith("--") and len(flag) == 2 and word.startswith(flag) and len(word) > 2:
                found = word[2:]
    return found


def _folder(words: Sequence[str], *flags: str) -> str:
    """`_value` where that is a folder, and no flag."""
    value = _value(words, *flags)
    return "" if value.startswith("-") else value


def _cargo(words: Sequence[str]) -> Built | None:
    tool = words[0].rpartition("/")[2]
    rest = [word for word in words[1:] if not word.startswith("+")]
    if _CARGO_BY_VARIABLE.match(words[0]):
        tool = "cargo"
    if tool not in ("cargo", "cross") or not rest:
        return None
    if rest[0] == "auditable":
        rest = rest[1:]
    if not rest or rest[0] not in ("build", "b", "zigbuild", "rustc", "dist"):
        return None
    profile = _value(rest, "--profile")
    released = rest[0] == "dist" or bool({"--release", "-r"} & set(rest)) or profile not in ("", "dev")
    target_dir = _folder(rest, "--target-dir") or "target"
    folder = profile if profile not in ("", "dev") else "release" if released else "debug"
    target = _value(rest, "--target")
    path = "/".join(part for part in (target_dir, target, folder) if part)
    if not target and any("$" in word and "target" in word.lower() for word in rest):
        # A variable names the target, and with it the folder.
        path = target_dir
    name = "cross" if tool == "cross" else "Cargo"
    return Built(
        name=name,
        paths=(path,),
        ships=released,
        debug_build=not released,
        hint=cargo_profile.hint("", folder) if released else "",
        profile=folder if released else "",
    )


def _go(words: Sequence[str]) -> Built | None:
    if words[0] != "go" or len(words) < 2 or words[1] != "build":
        return None
    out = _value(words, "-o")
    return Built(name="Go", paths=(out or ".",), ships=bool(out))


def _cmake(words: Sequence[str]) -> Built | None:
    if words[0] != "cmake":
        return None
    kind = next((word.partition("=")[2] for word in words if word.startswith("-DCMAKE_BUILD_TYPE")), "")
    kind = kind or _value(words, "--config")
    configures = not any(word in ("--build", "--workflow") or word.startswith("--build=") for word in words)
    if not configures and _value(words, "--target", "-t") in _BUILDS_NOTHING:
        return None
    folder = _folder(words, "--build") or _folder(words, "-B")
    if not folder and any(word in ("..", "../") for word in words):
        folder = "."
    if not folder and any(word.startswith("--preset") for word in words):
        return Built(name="CMake", paths=("build", "out"), hint=_CMAKE_PRESET, configures=configures, guessed=True)
    if not folder:
        return None
    lowered = kind.lower()
    return Built(
        name="CMake",
        paths=(folder,),
        ships=lowered in ("release", "relwithdebinfo", "minsizerel"),
        debug_build=lowered == "debug",
        hint=_CMAKE_RELEASE if lowered in ("release", "minsizerel") else "",
        configures=configures,
    )


def _meson(words: Sequence[str]) -> Built | None:
    folder = _folder(words, "-C") or "."
    if words[0] == "ninja":
        return None if words[-1] in _BUILDS_NOTHING else Built(name="Ninja", paths=(folder,))
    if words[0] != "meson" or len(words) < 2:
        return None
    if words[1] == "compile":
        return None if words[-1] in _BUILDS_NOTHING else Built(name="Meson", paths=(folder,))
    if words[1] != "setup":
        return None
    folders = [word for word in words[2:] if not word.startswith("-")]
    kind = _value(words, "--buildtype") or next(
        (word.partition("=")[2] for word in words if word.startswith("-Dbuildtype=")), ""
    )
    return Built(
        name="Meson",
        paths=(folders[0] if folders else "build",),
        ships=kind in ("release", "debugoptimized"),
        hint="--buildtype=release builds without -g: use debugoptimized." if kind in ("release", "minsize") else "",
        configures=True,
    )


def _bazel(words: Sequence[str]) -> Built | None:
    if words[0].rpartition("/")[2] not in ("bazel", "bazelisk") or "build" not in words:
        return None
    optimized = _value(words, "-c", "--compilation_mode") == "opt" or any("release" in word for word in words)
    return Built(name="Bazel", paths=("bazel-bin/",), ships=optimized, hint=_BAZEL)


def _make(words: Sequence[str]) -> Built | None:
    if words[0] not in ("make", "gmake"):
        return None
    targets = {word for word in words[1:] if not word.startswith("-") and "=" not in word and not word.isdigit()}
    targets -= {_value(words, "-C")}
    if targets and not any(one in _MAKE_TARGETS or "build" in one or "release" in one for one in targets):
        return None
    return Built(name="Make", paths=(_folder(words, "-C") or ".",))


def _packages(words: Sequence[str]) -> Built | None:
    tool = words[0].rpartition("/")[2]
    if tool == "goreleaser" and {"release", "build"} & set(words):
        return Built(name="GoReleaser", paths=("dist",), ships=True)
    as_module = tool.startswith("python") and words[1:3] == ["-m", "cibuildwheel"]
    if (
        tool == "cibuildwheel"
        or as_module
        or (tool in ("pipx", "uvx") and any(word.startswith("cibuildwheel") for word in words))
    ):
        folder = _folder(words, "--output-dir") or "wheelhouse"
        return Built(name="cibuildwheel", paths=(folder,), ships=True, packed=WHEELS, hint=_CIBUILDWHEEL)
    if tool == "maturin" and "build" in words:
        folder = _folder(words, "--out", "-o") or "target/wheels"
        return Built(name="maturin", paths=(folder,), ships=True, packed=WHEELS, hint=_CARGO, profile="release")
    if tool in ("docker", "podman", "buildah") and {"build", "buildx", "bud"} & set(words[1:3]):
        return Built(name="Docker", paths=(), ships=True, hint=_DOCKER)
    return None


_READERS: tuple[Callable[[Sequence[str]], Built | None], ...] = (
    _packages,
    _cargo,
    _go,
    _cmake,
    _meson,
    _bazel,
    _make,
)
