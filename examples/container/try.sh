#!/bin/sh
# What the pipeline does, without a container engine: build stage, push to the store, and the shipped program resolved there.
set -eu
cd "$(dirname "$0")"
store=${SYMUP_TO:-build/store}

sh build.sh
symup push build/symbols --to "$store"

address=$(build/shipped/service | tail -n 1)
echo "the stripped program was sampled at $address:"
symup lookup build/shipped/service "$address" --from "$store"
