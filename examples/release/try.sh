#!/bin/sh
# What the pipeline does: build, upload what is shipped together with its debug files, check, resolve.
set -eu
cd "$(dirname "$0")"
export SYMUP_TO="${SYMUP_TO:-build/symbols}"

sh build.sh

# Stripped already, and no harm done: the binary and its debug file have one build-id, so they become one symbol file.
symup upload build/shipped build/debug --require full
symup status build/shipped

address=$(build/shipped/server | tail -n 1)
echo "the stripped program was sampled at $address:"
symup lookup build/shipped/server "$address"
