"""What the peers are made of: versions, and the OpenBLAS kernels each would use, as one JSON document.

usage: about.py [path of the BLAS that R uses]
"""
import ctypes
import json
import platform
import sys

import numpy
import pandas
import polars
import pyarrow
import scipy.linalg
import sklearn
import threadpoolctl


def openblas_of(path):
    library = ctypes.CDLL(path)
    try:
        corename, config = library.openblas_get_corename, library.openblas_get_config
    except AttributeError:
        return None  # the reference BLAS, or another one
    corename.restype = config.restype = ctypes.c_char_p
    return {"version": config().decode().split()[1], "core": corename().decode()}


def bundled(package):
    for library in threadpoolctl.threadpool_info():
        if library["internal_api"] == "openblas" and f"/{package}.libs/" in library["filepath"]:
            return {"version": library["version"], "core": library["architecture"]}
    return None


blas = {"numpy": bundled("numpy"), "scipy": bundled("scipy")}
if len(sys.argv) > 1:
    blas["R"] = openblas_of(sys.argv[1])
versions = {m.__name__: m.__version__ for m in (numpy, scipy, pandas, pyarrow, polars, sklearn)}
print(json.dumps({"versions": {"Python": platform.python_version(), **versions}, "blas": blas}))
