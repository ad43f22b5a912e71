"""Names that compilers mangle by short rules: Ada's, Fortran's, Haskell's and Nim's. An empty text is the answer to other names."""

from __future__ import annotations

import re


def _table(spelt: str) -> dict[str, str]:
    """Each second word by the one before it."""
    words = spelt.split()
    return dict(zip(words[::2], words[1::2], strict=True))


_ADA = re.compile(
    r"(?:_ada_)?([a-z][a-z0-9_]*?(?:__O[a-z]+)?)(?:__[0-9]+(?:_[0-9]+)*)?(?:TK?B|[PN])?(?:X[bn]*)?(\..+)?"
)
_ADA_ELABORATION = {"___elabb": "'Elab_Body", "___elabs": "'Elab_Spec"}
_ADA_OPERATORS = _table(
    "Oabs abs Oand and Omod mod Onot not Oor or Orem rem Oxor xor Oeq = One /= Olt < Ole <= Ogt > Oge >= Oadd + "
    "Osubtract - Oconcat & Omultiply * Odivide / Oexpon **"
)

_FORTRAN = re.compile(r"__([a-z][a-z0-9_]*)_MOD_([a-z][a-z0-9_]*)(\..+)?")

_HASKELL = re.compile(
    r"(?:([a-z][A-Za-z0-9]*)_)?([A-Z][A-Za-z0-9]*?(?:zi[A-Z][A-Za-z0-9]*?)*)_([A-Za-z0-9]+)(_(?:(?:con_|static_)?(?:info|entry)|slow|fast))"
)
_HASKELL_ESCAPE = re.compile(r"z([0-9][0-9a-f]*)U|Z([0-9]+)([TH])|([zZ][A-Za-z])")
_HASKELL_LETTERS = _table(
    "ZL ( ZR ) ZM [ ZN ] ZC : ZZ Z zz z za & zb | zc ^ zd $ ze = zg > zh # zi . zl < zm - zn ! zp + zq ' zr \\ zs / "
    "zt * zu _ zv %"
)

_NIM = re.compile(r"([A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*_?)__([A-Za-z][A-Za-z0-9_]*?)_u?[0-9]+(\..+)?")
_NIM_LETTERS = _table(
    "dollar $ percent % amp & roof ^ emark ! qmark ? star * plus + minus - slash / backslash \\ eq = lt < gt > tilde "
    "~ colon : dot . at @ bar |"
)
_NIM_OPERATOR = re.compile(rf"(?:{'|'.join(sorted(_NIM_LETTERS, key=len, reverse=True))}|X[0-9A-F]{{2}})")


def demangle_ada(name: str) -> str:
    """A name of GNAT's: double underscores between units, words for operators, suffixes for tasks, overloads and nesting."""
    for suffix, attribute in _ADA_ELABORATION.items():
        if name.endswith(suffix) and (unit := demangle_ada(name.removesuffix(suffix))):
            return unit + attribute
    mangled = _ADA.fullmatch(name.replace("TK__", "__"))
    if mangled is None or "___" in mangled[1] or mangled[1].endswith("_"):
        return ""
    parts = mangled[1].split("__")
    if parts[-1] in _ADA_OPERATORS:
        parts[-1] = f'"{_ADA_OPERATORS[parts[-1]]}"'
    # The number of a nested function tells it from others of its name; what else follows a dot is a copy that the compiler made.
    return ".".join(parts) + _clone(re.sub(r"^\.[0-9]+", "", mangled[2] or ""))


def demangle_fortran(name: str) -> str:
    """A procedure of a module, by gfortran."""
    mangled = _FORTRAN.fullmatch(name)
    return f"{mangled[1]}::{mangled[2]}{_clone(mangled[3] or '')}" if mangled else ""


def demangle_haskell(name: str, *, certain: bool) -> str:
    """A name of GHC's: package, module, name and what it is of it, z-encoded. Not ``certain``: only where the module has dots."""
    mangled = _HASKELL.fullmatch(name)
    if mangled is None or not (certain or "zi" in mangled[2]):
        return ""
    package, module, function = (_HASKELL_ESCAPE.sub(_haskell_letter, part or "") for part in mangled.groups()[:3])
    kind = mangled[4].removesuffix("_info") if mangled[4] == "_info" else mangled[4]
    return f"{package}{':' if package else ''}{module}.{function}{kind}"


def _haskell_letter(escape: re.Match[str]) -> str:
    unicode, arity, boxed, letters = escape.groups()
    if unicode:
        return (_letter(unicode) if len(unicode) <= 6 else "") or escape[0]
    if arity:
        commas = "," * (min(int(arity), 64) - 1) if len(arity) <= 3 else ""
        return f"({commas})" if boxed == "T" else f"(#{commas}#)"
    return _HASKELL_LETTERS.get(letters, escape[0])


def demangle_nim(name: str) -> str:
    """A name of Nim's C: name, module and number; an underscore at the name's end says that letters of operators are spelt out."""
    mangled = _NIM.fullmatch(name)
    if mangled is None:
        return ""
    function, module = mangled[1], mangled[2].replace("Z", "/")
    if function.endswith("_"):
        function = _nim_operator(function[:-1])
    return f"{module}.{function}{_clone(mangled[3] or '')}"


def _nim_operator(spelt: str) -> str:
    """``dollar`` is $, ``X5BX5D`` is [], ``eqdestroy`` is =destroy."""
    written = _NIM_OPERATOR.sub(lambda word: _NIM_LETTERS.get(word[0]) or _letter(word[0][1:]) or word[0], spelt)
    if not re.search("[A-Za-z0-9]", written):
        return written
    return f"={spelt[2:]}" if spelt.startswith("eq") else spelt


def _clone(suffix: str) -> str:
    return f" [clone {suffix}]" if suffix else ""


def _letter(number: str) -> str:
    """The letter of a hexadecimal number; empty where it is none that can be shown."""
    code = int(number, 16)
    return chr(code) if code < 0x110000 and chr(code).isprintable() else ""
