"""Builds the optional extension; everything else stands in pyproject.toml.

TOOLSTREAM_BUILD unset: compile if possible; "skip": pure Python; "require": fail if it cannot be compiled.
"""

import os
import sys

from setuptools import Extension, setup

mode = os.environ.get("TOOLSTREAM_BUILD", "")
if mode not in ("", "skip", "require"):
    sys.exit(f"TOOLSTREAM_BUILD={mode!r}: expected 'skip', 'require' or nothing")

extensions = []
if mode == "require" or (not mode and sys.implementation.name == "cpython"):
    try:
        from Cython.Build import cythonize
    except ImportError:
        if mode:
            raise
    else:
        extensions = cythonize(
            [
                Extension(
                    "toolstream._engine_c",
                    ["toolstream/_engine_c.pyx"],
                    include_dirs=["toolstream"],
                    depends=["toolstream/_engine_c.h"],
                )
            ],
            build_dir="build/cython",
        )
        for extension in extensions:
            extension.optional = not mode  # cythonize() drops what Extension() was given

setup(ext_modules=extensions)
