#!/bin/sh
# Runs within the image's build stage, and anywhere else: builds, puts the symbols into a folder that a later stage or job
# carries on, and strips what is shipped.
set -eu
cd "$(dirname "$0")"
mkdir -p build/shipped

cc -g -O2 -fPIE -pie -Wl,--build-id -o build/service service.c
symup upload build/service --to build/symbols --require full
strip -o build/shipped/service build/service
