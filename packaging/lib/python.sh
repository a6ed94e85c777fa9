# shellcheck shell=bash
# Checks of kind `python` of packaging/check: the wheel and the source archive of the Python
# package, as uploaded to PyPI. Sourced, not run. test/run python runs the package's own tests.

PYTHON=$WORK/python

# Build both from a copy, with tools from PyPI.
build_wheel() {
    mkdir "$PYTHON" && cp -r "$WORK/unpacked/emogi-$VERSION/python" "$PYTHON/source" && install_missing python3-venv &&
        python3 -m venv "$PYTHON/tools" && timeout 600 "$PYTHON/tools/bin/pip" install --disable-pip-version-check -q build twine &&
        (cd "$PYTHON" && timeout 600 "$PYTHON/tools/bin/python" -m build -o "$PYTHON/dist" "$PYTHON/source") && ls -l "$PYTHON/dist"
}
dist_is_valid() { "$PYTHON/tools/bin/twine" check --strict "$PYTHON"/dist/*; }

# The wheel contains the modules, py.typed and the license name; the archive builds the same wheel.
wheel_is() {
    local wheel=$PYTHON/dist/emogi-$VERSION-py3-none-any.whl
    diff <(unzip -Z1 "$wheel" 'emogi/*' | sort) <(cd "$PYTHON/source/src" && find emogi -type f -not -path '*/__pycache__/*' | sort) &&
        unzip -Z1 "$wheel" | grep -x emogi/py.typed && unzip -p "$wheel" '*/METADATA' | grep -x "Version: $VERSION"
}

# Install the wheel outside the checkout, and check a program that uses it with pandas and polars
# with mypy.
install_wheel() {
    python3 -m venv "$PYTHON/venv" && timeout 900 "$PYTHON/venv/bin/pip" install --disable-pip-version-check -q mypy pytest pandas-stubs \
        "$(echo "$PYTHON"/dist/emogi-*.whl)[pandas,polars]" &&
        (cd / && same "$("$PYTHON/venv/bin/python" -c 'import emogi; print(emogi.__version__)')" "$VERSION") &&
        "$PYTHON/venv/bin/pip" check
}
types_are_seen() {
    (cd "$PYTHON" && timeout 600 "$PYTHON/venv/bin/python" -m pytest -q -p no:cacheprovider -k 'not runs' "$PYTHON/source/tests/test_types.py")
}

check_python() {
    need 'The wheel and the source archive' build_wheel
    check 'twine' dist_is_valid
    check 'The wheel has the modules and py.typed' wheel_is
    need 'pip install' install_wheel
    check 'mypy --strict of a program' types_are_seen
}
