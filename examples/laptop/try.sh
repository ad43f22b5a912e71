#!/bin/sh
# One build on a laptop: a symbol file without any store, then the same through a store.
set -eu
cd "$(dirname "$0")"
export SYMUP_TO="${SYMUP_TO:-build/symbols}"
mkdir -p build

cc -g -O2 -fPIE -pie -Wl,--build-id -o build/tool tool.c
address=$(build/tool | tail -n 1)

symup convert build/tool -o build/tool.gsym
echo "sampled at $address, from the file:"
symup lookup build/tool.gsym "$address"

symup upload build/tool
echo "sampled at $address, from the store:"
symup lookup build/tool "$address"
