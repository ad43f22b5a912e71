#!/bin/sh
# build.sh SERVICE builds one service, as one job of a matrix does.
set -eu
cd "$(dirname "$0")"
mkdir -p build/bin
cc -g -O2 -fPIE -pie -Wl,--build-id -o "build/bin/$1" "services/$1.c"
