#!/bin/sh
# Builds, uploads, strips what is shipped, and resolves an address that the stripped program printed.
set -eu
cd "$(dirname "$0")"
export SYMUP_TO="${SYMUP_TO:-build/symbols}"
mkdir -p build/shipped

# A GNU build-id is what profilers look for. Go writes one by itself from 1.24 on; a linker that can't derive it gets a digest.
build_id=gobuildid
go tool link -h 2>&1 | grep -q gobuildid || build_id=0x$({ go version; cat go.mod ./*.go; } | sha1sum | cut -c1-40)

# No -s and no -w: they would drop the DWARF before it is stored.
go build -trimpath -buildvcs=false -ldflags="-B $build_id" -o build/primes .

symup upload build/primes --require lines

strip -o build/shipped/primes build/primes
address=$(build/shipped/primes | tail -n 1)
echo "the stripped program was sampled at $address:"
symup lookup build/shipped/primes "$address"
