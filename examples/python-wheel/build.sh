#!/bin/sh
# Builds a wheel, uploads the symbols of its extension module, strips the module within the wheel, and resolves an address
# that the installed wheel printed.
set -eu
cd "$(dirname "$0")"
export SYMUP_TO="${SYMUP_TO:-build/symbols}"
python=${PYTHON:-python3}

"$python" -m venv build/venv
build/venv/bin/pip install --quiet --disable-pip-version-check 'setuptools>=77' wheel
rm -rf build/whole build/unpacked build/dist
build/venv/bin/pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir build/whole .

build/venv/bin/wheel unpack --dest build/unpacked build/whole/fastsum-*.whl
symup upload build/unpacked --require full

# The same file, so the same build-id: what is installed finds its symbols.
find build/unpacked -name '*.so' -exec strip --strip-debug {} +
mkdir -p build/dist
build/venv/bin/wheel pack --dest-dir build/dist build/unpacked/fastsum-*

build/venv/bin/pip install --quiet --disable-pip-version-check --no-index --force-reinstall build/dist/fastsum-*.whl
"$PWD/build/venv/bin/python" - >build/sample <<'PY'
import array
import fastsum

fastsum.sum_of(array.array("d", [1, 2, 3]))
print(fastsum.__file__, hex(fastsum.last_address()))
PY
read -r module address <build/sample
echo "the installed module was sampled at $address:"
symup lookup "$module" "$address"
