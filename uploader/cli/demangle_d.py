"""Names of D functions as they were written, by the grammar of D's ABI (https://dlang.org/spec/abi.html#name_mangling)."""

from __future__ import annotations

import re

MAX_STEPS = 4096
"""Back references may name a type that names one before, twice: what takes more steps is no one's name."""

_BASIC = {
    "v": "void",
    "g": "byte",
    "h": "ubyte",
    "s": "short",
    "t": "ushort",
    "i": "int",
    "k": "uint",
    "l": "long",
    "m": "ulong",
    "f": "float",
    "d": "double",
    "e": "real",
    "o": "ifloat",
    "p": "idouble",
    "j": "ireal",
    "q": "cfloat",
    "r": "cdouble",
    "c": "creal",
    "b": "bool",
    "a": "char",
    "u": "wchar",
    "w": "dchar",
    "n": "typeof(null)",
}
_CONVENTIONS = {"F": "", "U": "extern(C) ", "W": "extern(Windows) ", "V": "extern(Pascal) ", "R": "extern(C++) "}
_ATTRIBUTES = {
    "a": "pure",
    "b": "nothrow",
    "c": "ref",
    "d": "@property",
    "e": "@trusted",
    "f": "@safe",
    "i": "@nogc",
    "j": "return",
    "l": "scope",
    "m": "@live",
}
_MODIFIERS = {"x": "const", "y": "immutable", "O": "shared"}
_STORAGE = {"I": "in ", "J": "out ", "K": "ref ", "L": "lazy "}
_SPECIAL = {"__ctor": "this", "__dtor": "~this", "__postblit": "this(this)"}
_NUMBER = re.compile("[0-9]+")


class _UnreadableError(Exception):
    """The text is no name of D's, or one that this reader doesn't know."""


def demangle_d(name: str) -> str:
    """The name with its scopes, template arguments and parameters; empty where it can't be read."""
    try:
        return "D main" if name == "_Dmain" else _Reader(name).whole()
    except (_UnreadableError, IndexError, RecursionError):
        return ""


class _Reader:
    """Reads one name from the left; each method leaves ``at`` behind what it read."""

    def __init__(self, text: str) -> None:
        # What is asked for behind the end is a letter that nothing begins with.
        self.text = text + "\0"
        self.at = 0
        self.steps = 0

    def whole(self) -> str:
        readable = self.mangled()
        if self.text[self.at] != "\0":
            raise _UnreadableError
        return readable

    def mangled(self) -> str:
        if not self.text.startswith("_D", self.at):
            raise _UnreadableError
        self.at += 2
        readable = self.qualified()
        # The type of what it is: of functions, what they return.
        self.type()
        return readable

    def next(self) -> str:
        self.at += 1
        return self.text[self.at - 1]

    def spend(self, letters: int = 0) -> None:
        """Counts a step, and what is written with it."""
        self.steps += 1 + letters // 16
        if self.steps > MAX_STEPS:
            raise _UnreadableError

    def take(self, letter: str) -> bool:
        found = self.text.startswith(letter, self.at)
        if found:
            self.at += len(letter)
        return found

    def digits(self) -> str:
        found = _NUMBER.match(self.text, self.at)
        if found is None:
            raise _UnreadableError
        self.at = found.end()
        return found[0]

    def number(self) -> int:
        """A length or a count."""
        digits = self.digits()
        if len(digits) > 9:
            raise _UnreadableError
        return int(digits)

    def back(self) -> int:
        """The target of the back reference behind the ``Q`` just read: so many letters before it, base 26."""
        begin, distance = self.at - 1, 0
        while "A" <= (letter := self.next()) <= "Z":
            distance = distance * 26 + ord(letter) - 65
        distance = distance * 26 + ord(letter) - 97
        if not "a" <= letter <= "z" or not 0 < distance <= begin:
            raise _UnreadableError
        return begin - distance

    def elsewhere(self, at: int, what: str) -> str:
        """Reads the target of a back reference: an identifier, a type or a delegate's."""
        self.spend()
        behind, self.at = self.at, at
        readable = {"type": self.type, "identifier": self.identifier, "delegate": self.delegate}[what]()
        self.at = behind
        return readable

    def at_name(self) -> bool:
        """Whether another identifier of a qualified name stands there."""
        if self.text[self.at] != "Q":
            return self.text[self.at].isdigit() or self.text.startswith(("__T", "__U"), self.at)
        here = self.at
        self.at += 1
        leads_to_name = self.text[self.back()].isdigit()
        self.at = here
        return leads_to_name

    def qualified(self) -> str:
        parts = []
        while True:
            while self.take("0"):
                pass
            parts.append(self.identifier() + self.signature())
            if not self.at_name():
                return ".".join(part for part in parts if part)

    def signature(self) -> str:
        """The parameters of a function, without what it returns; nothing where no function's type stands there."""
        here = self.at
        modifiers = self.modifiers() if self.take("M") else ""
        if self.text[self.at] not in _CONVENTIONS:
            self.at = here
            return ""
        self.at += 1
        try:
            self.attributes()
            readable = f"({self.parameters()}){modifiers}"
        except _UnreadableError:
            readable = ""
        # The letters of calling conventions begin other things, too; and a signature has a type behind it.
        if not readable or self.text[self.at] == "\0":
            self.at = here
            return ""
        return readable

    def identifier(self) -> str:
        self.spend()
        if self.take("Q"):
            return self.elsewhere(self.back(), "identifier")
        if self.text.startswith(("__T", "__U"), self.at):
            return self.template()
        length = self.number()
        end = self.at + length
        name = self.text[self.at : end]
        if not length or len(name) != length or "\0" in name:
            raise _UnreadableError
        self.spend(length)
        if name.startswith(("__T", "__U")) and name[3:4].isdigit():
            readable = self.template()
            if self.at != end:
                raise _UnreadableError
            return readable
        self.at = end
        if re.fullmatch("__S[0-9]+", name):
            # A scope that only tells blocks of one function apart.
            return self.identifier()
        if name == "__postblit" and not self.take("MFZ"):
            return name
        return _SPECIAL.get(name, name)

    def template(self) -> str:
        self.at += 3
        name = self.identifier()
        arguments = []
        while not self.take("Z"):
            self.take("H")
            arguments.append(self.argument())
        return f"{name}!({', '.join(arguments)})"

    def argument(self) -> str:
        kind = self.next()
        if kind == "T":
            return self.type()
        if kind == "S":
            return self.symbol()
        if kind == "V":
            here = self.at
            type_letter = self.text[self.at]
            if type_letter == "Q":
                self.at += 1
                type_letter = self.text[self.back()]
                self.at = here
            return self.value(self.type(), type_letter)
        if kind == "X":
            length = self.number()
            self.spend(length)
            self.at += length
            return self.text[self.at - length : self.at]
        raise _UnreadableError

    def symbol(self) -> str:
        if self.text.startswith("_D", self.at):
            return self.mangled()
        here = self.at
        if self.text[here].isdigit():
            length = self.number()
            if self.text.startswith("_D", self.at):
                end = self.at + length
                readable = self.mangled()
                if self.at != end:
                    raise _UnreadableError
                return readable
            self.at = here
        return self.qualified()

    def value(self, type_name: str, type_letter: str) -> str:
        if self.take("n"):
            return "null"
        if self.text[self.at] in "awud" and type_letter in "AyxE":
            return self.string()
        sign = "-" if self.take("N") else ""
        if not sign:
            self.take("i")
        digits = self.digits()
        if type_letter == "b":
            return "true" if digits.strip("0") else "false"
        if type_letter in "auw":
            return f"'{chr(int(digits))}'" if len(digits) < 4 and 32 <= int(digits) < 127 else f"{type_name}({digits})"
        if type_letter in "hstikglm":
            return f"{sign}{digits}{'u' if type_letter in 'htkm' else ''}{'L' if type_letter in 'lm' else ''}"
        if type_letter in "Eyx":
            return sign + digits
        raise _UnreadableError

    def string(self) -> str:
        kind = self.next()
        length = self.number()
        self.spend(length)
        if not self.take("_"):
            raise _UnreadableError
        try:
            text = bytes.fromhex(self.text[self.at : self.at + 2 * length]).decode("utf-8", "replace")
        except ValueError:
            raise _UnreadableError from None
        self.at += 2 * length
        shown = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
        return f'"{shown}"' + (kind if kind in "wd" else "")

    def modifiers(self) -> str:
        written = ""
        while True:
            if self.text[self.at] in _MODIFIERS:
                written += " " + _MODIFIERS[self.next()]
            elif self.take("Ng"):
                written += " inout"
            else:
                return written

    def attributes(self) -> str:
        written = ""
        while self.text[self.at] == "N" and self.text[self.at + 1] in _ATTRIBUTES:
            written += f"{_ATTRIBUTES[self.text[self.at + 1]]} "
            self.at += 2
        return written

    def parameters(self) -> str:
        found: list[str] = []
        while True:
            if self.take("Z"):
                return ", ".join(found)
            if self.take("X"):
                return ", ".join(found) + "..."
            if self.take("Y"):
                return ", ".join([*found, "..."])
            storage = "scope " if self.take("M") else ""
            storage += "return " if self.take("Nk") else ""
            if self.text[self.at] in _STORAGE:
                storage += _STORAGE[self.next()]
                storage += "ref " if storage.endswith("in ") and self.take("K") else ""
            found.append(storage + self.type())

    def function(self, kind: str) -> str:
        """The type of a pointer to a function, or of a delegate."""
        convention = _CONVENTIONS.get(self.next())
        if convention is None:
            raise _UnreadableError
        attributes = self.attributes()
        parameters = self.parameters()
        return f"{convention}{self.type()}({parameters}) {attributes}{kind}"

    def delegate(self) -> str:
        return self.function("delegate")

    def type(self) -> str:
        self.spend()
        letter = self.next()
        if letter in _BASIC:
            return _BASIC[letter]
        if letter in _MODIFIERS:
            return f"{_MODIFIERS[letter]}({self.type()})"
        if letter in "CSETI":
            return self.qualified()
        if letter == "Q":
            return self.elsewhere(self.back(), "type")
        if letter in _CONVENTIONS:
            self.at -= 1
            return self.function("function").removesuffix(" function")
        return self._made_of_others(letter)

    def _made_of_others(self, letter: str) -> str:
        if letter == "A":
            return f"{self.type()}[]"
        if letter == "G":
            count = self.number()
            return f"{self.type()}[{count}]"
        if letter == "H":
            key = self.type()
            return f"{self.type()}[{key}]"
        if letter == "P":
            return self.function("function") if self.text[self.at] in _CONVENTIONS else f"{self.type()}*"
        if letter == "D":
            modifiers = self.modifiers()
            if self.take("Q"):
                return self.elsewhere(self.back(), "delegate") + modifiers
            return self.function("delegate") + modifiers
        if letter == "B":
            return f"Tuple!({', '.join(self.type() for _ in range(min(self.number(), MAX_STEPS)))})"
        if letter == "N" and self.take("n"):
            return "noreturn"
        if letter == "N" and (of := {"g": "inout", "h": "__vector"}.get(self.next())):
            return f"{of}({self.type()})"
        if letter == "z" and (of := {"i": "cent", "k": "ucent"}.get(self.next())):
            return of
        raise _UnreadableError
