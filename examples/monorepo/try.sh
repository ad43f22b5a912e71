#!/bin/sh
# What the pipeline does: every service built by itself, the symbols sent by two shards, all of them checked, one resolved.
set -eu
cd "$(dirname "$0")"
export SYMUP_TO="${SYMUP_TO:-build/symbols}"
mkdir -p build/shipped

for service in billing search users; do
  sh build.sh "$service"
done

# Each shard takes its part by id, whatever the others do: on as many runners as there are shards.
symup upload build/bin --require full --shard 1/2 --allow-empty
symup upload build/bin --require full --shard 2/2 --allow-empty
symup status build/bin

for service in billing search users; do
  strip -o "build/shipped/$service" "build/bin/$service"
  address=$("build/shipped/$service" | tail -n 1)
  echo "the stripped $service was sampled at $address:"
  symup lookup "build/shipped/$service" "$address"
done
