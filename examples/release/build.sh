#!/bin/sh
# A release: the program is stripped, its debug information goes into a file of its own, and both are paired by build-id.
set -eu
cd "$(dirname "$0")"
mkdir -p build/shipped build/debug

cc -g -O2 -fPIE -pie -Wl,--build-id -o build/server server.c
objcopy --only-keep-debug build/server build/debug/server.debug
strip -o build/shipped/server build/server
rm build/server
