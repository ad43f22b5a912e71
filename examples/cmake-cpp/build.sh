#!/bin/sh
# Builds, uploads, installs without debug information, and resolves an address that the installed program printed.
set -eu
cd "$(dirname "$0")"
export SYMUP_TO="${SYMUP_TO:-build/symbols}"

cmake -S . -B build/tree -DCMAKE_BUILD_TYPE=RelWithDebInfo
cmake --build build/tree

# Before anything is stripped: from here on the store has what the shipped files lose.
symup upload build/tree --include 'lib*.so*' --include report --require full

cmake --install build/tree --prefix build/shipped --strip
address=$(build/shipped/bin/report | tail -n 1)
echo "the stripped liborders.so was sampled at $address:"
symup lookup build/shipped/lib/liborders.so "$address"
