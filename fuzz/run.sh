#!/usr/bin/env bash
# Build the extension with sanitizers and coverage, then fuzz one target: fuzz/run.sh TARGET [options of libFuzzer]
set -euo pipefail
cd "$(dirname "$0")/.."
python=${FUZZ_PYTHON:-.venv-fuzz/bin/python}
build=build/fuzz
if [ ! -e "$build/done" ] || [ -n "$(find toolstream -newer "$build/done" -name '*.p*')" ]; then
    rm -rf "$build" && mkdir -p "$build"
    cp -r toolstream pyproject.toml setup.py "$build"
    find "$build" -name '*.so' -delete
    (cd "$build" && CC=clang CXX=clang++ LDSHARED="clang -shared" TOOLSTREAM_BUILD=require \
        CFLAGS="-g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined -fno-sanitize=function" \
        "$OLDPWD/$python" setup.py -q build_ext --inplace)
    touch "$build/done"
fi
runtime=$("$python" -c "import atheris, os; print(os.path.join(os.path.dirname(atheris.path()), 'asan_with_fuzzer.so'))")
export PYTHONPATH=$PWD/$build PYTHONMALLOC=malloc
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0:allocator_may_return_null=1:symbolize=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
LD_PRELOAD=$runtime exec "$python" fuzz/fuzz.py "$@"
