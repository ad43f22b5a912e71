#!/bin/sh
# Builds what is shipped, uploads its symbols, and resolves an address that the stripped program printed.
set -eu
cd "$(dirname "$0")"
export SYMUP_TO="${SYMUP_TO:-build/symbols}"

# A GNU build-id is what profilers look for. Go writes one by itself from 1.24 on; a linker that can't derive it gets a digest.
build_id=gobuildid
go tool link -h 2>&1 | grep -q gobuildid || build_id=0x$({ go version; cat go.mod ./*.go; } | sha1sum | cut -c1-40)

# -s and -w leave out what Go programs don't need: functions, files, lines and inlined calls are in every one of them.
go build -trimpath -buildvcs=false -ldflags="-s -w -B $build_id" -o build/primes .

symup upload build/primes --require full

address=$(build/primes | tail -n 1)
echo "the stripped program was sampled at $address:"
symup lookup build/primes "$address"
