#!/usr/bin/env bash
# Build the extension with sanitizers and coverage, then fuzz one target: fuzz/run.sh TARGET [options of libFuzzer]
# FUZZ_PYTHON: the interpreter that has atheris, cython and setuptools. FUZZ_BUILD: where the build goes.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(realpath -s "${FUZZ_PYTHON:-.venv-fuzz/bin/python}")
build=$(realpath -m "${FUZZ_BUILD:-build/fuzz}")
if [ ! -e "$build/done" ] || [ -n "$(find toolstream -newer "$build/done" \( -name '*.p*' -o -name '*.h' \) -not -name '*.pyc')" ]; then
    rm -rf "$build" && mkdir -p "$build"
    cp -r toolstream pyproject.toml setup.py "$build"
    find "$build" -name '*.so' -delete
    # Not pointer-overflow: the constructors that Cython writes add 0 to a null pointer. Of real overflows ASan tells.
    (cd "$build" && CC=clang CXX=clang++ LDSHARED="clang -shared" TOOLSTREAM_BUILD=require \
        CFLAGS="-g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined -fno-sanitize=function,pointer-overflow" \
        "$python" setup.py -q build_ext --inplace >build.log 2>&1) || { cat "$build/build.log" && exit 1; }
    touch "$build/done"
fi
runtime=$("$python" -c "import atheris, os; print(os.path.join(atheris.path(), 'asan_with_fuzzer.so'))")
export PYTHONPATH=$build PYTHONMALLOC=malloc TOOLSTREAM_BACKEND=cython
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0:allocator_may_return_null=1:symbolize=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
LD_PRELOAD=$runtime exec "$python" fuzz/fuzz.py "$@"
