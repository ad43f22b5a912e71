#!/bin/sh
# First light: installs symup into .venv, uploads the symbols of a real binary into the default store, and asks that store
# for the function, file and line of an address. Needs Python 3.11 or later; uses a C compiler where there is one.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/hello
python=${PYTHON:-python3}

# In CI symup wants a destination that outlives the job; here the default one is what we want to see.
unset CI

say() { printf '\n== %s\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "this needs Python 3.11 or later; name one with PYTHON=/path/to/python3" >&2
  exit 2
fi

say "Install symup into .venv (a minute or two the first time: the core is compiled)"
[ -x "$root/.venv/bin/python" ] || "$python" -m venv "$root/.venv"
"$root/.venv/bin/pip" install --quiet --disable-pip-version-check "$root"
PATH=$root/.venv/bin:$PATH
run symup --version

mkdir -p "$build"
compiler=$(command -v cc || command -v gcc || command -v clang || true)
if [ -n "$compiler" ]; then
  say "Build a small program"
  run "$compiler" -g -O2 -fPIE -pie -Wl,--build-id -o "$build/hello" "$root/examples/hello/hello.c"
  binary=$build/hello
  shipped=$build/hello
  if command -v strip >/dev/null; then
    shipped=$build/hello.shipped
    run strip -o "$shipped" "$binary"
  fi
else
  say "No C compiler here: the Python interpreter itself will do"
  binary=$(python -c 'import os, sys; print(os.path.realpath(sys.executable))')
fi

say "Upload its symbols"
run symup upload "$binary"

say "The same again sends nothing"
run symup upload "$binary"

say "What the store holds of it"
run symup status "$binary"

if [ -n "$compiler" ]; then
  address=$("$shipped" | tail -n 1)
  say "The program, stripped as it is shipped, says that it ran at $address. What is there?"
else
  symup convert --quiet "$binary" -o "$build/interpreter.gsym"
  # An address that a line is known for, if this interpreter was built to tell.
  address=$(symup inspect --json "$build/interpreter.gsym" | python -c '
import json, sys
page = json.load(sys.stdin)["files"][0]
first, end = int(page["first_address"], 16), int(page["end_address"], 16)
print(*(hex(address) for address in range(first, end, max(1, (end - first) // 1000))))
' | symup lookup --json "$build/interpreter.gsym" | python -c '
import json, sys
answers = [answer for answer in json.load(sys.stdin)["addresses"] if answer["frames"]]
print(max(answers, key=lambda answer: (bool(answer["frames"][0]["line"]), len(answer["frames"])))["address"])
')
  say "An address of its code: $address. What is there?"
  shipped=$binary
fi
run symup lookup "$shipped" "$address"
