#!/bin/sh
# Builds, uploads, strips what is shipped, and resolves an address that the stripped program printed.
set -eu
cd "$(dirname "$0")"
export SYMUP_TO="${SYMUP_TO:-build/symbols}"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-build/target}"

cargo build --release --locked --offline

symup upload "$CARGO_TARGET_DIR/release/words" --require full

mkdir -p build/shipped
strip -o build/shipped/words "$CARGO_TARGET_DIR/release/words"
address=$(build/shipped/words | tail -n 1)
echo "the stripped program was sampled at $address:"
symup lookup build/shipped/words "$address"
