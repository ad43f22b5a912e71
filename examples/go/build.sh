#!/bin/sh
# Builds, uploads, strips what is shipped, and resolves an address that the stripped program printed.
set -eu
cd "$(dirname "$0")"
export SYMUP_TO="${SYMUP_TO:-build/symbols}"
mkdir -p build/shipped

# No -s and no -w: they would drop the DWARF before it is stored. -B gobuildid is what Go does by itself from 1.24 on.
go build -trimpath -buildvcs=false -ldflags='-B gobuildid' -o build/primes .

symup upload build/primes --require lines

strip -o build/shipped/primes build/primes
address=$(build/shipped/primes | tail -n 1)
echo "the stripped program was sampled at $address:"
symup lookup build/shipped/primes "$address"
