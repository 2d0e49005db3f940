"""The machine and what the peers on it are made of; which OpenBLAS kernels suit its processor."""
import json
import os
import platform
import re
import subprocess

# Kernels that use AVX-512 or AVX2; any other name is older than both.
LEVEL = {"skylakex": 2, "cooperlake": 2, "sapphirerapids": 2, "haswell": 1, "zen": 1, "excavator": 1}


def first_match(path, pattern, default=""):
    try:
        with open(path) as f:
            found = re.search(pattern, f.read(), re.MULTILINE)
    except OSError:
        return default
    return found.group(1).strip() if found else default


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def best_core_type():
    """The OPENBLAS_CORETYPE whose kernels use what this processor has; None when there is nothing to say."""
    flags = set(first_match("/proc/cpuinfo", r"^flags\s*:(.*)$").split())
    if {"avx512f", "avx512dq", "avx512bw", "avx512vl"} <= flags:
        return "SkylakeX"
    if {"avx2", "fma"} <= flags:
        return "Haswell"
    return None


def falls_short(core, best):
    return best is not None and LEVEL.get(core.lower(), 0) < LEVEL[best.lower()]


class Peers:
    """Versions of the peers, the OpenBLAS of each, and the environment that gives it the right kernels."""

    def __init__(self, python, here):
        r_says = json.loads(output("Rscript", "--vanilla", f"{here}/peers/about.R") or "{}")
        blas = [r_says["blas"]] if r_says else []
        python_says = json.loads(output(python, f"{here}/peers/about.py", *blas))
        self.versions = {**python_says["versions"], **r_says.get("versions", {})}
        self.found = python_says["blas"]
        self.best = best_core_type()
        self.helped = {k for k, b in self.found.items() if b and falls_short(b["core"], self.best)}

    def environment(self, blas):
        return {"OPENBLAS_CORETYPE": self.best} if self.helped & set(blas) else {}

    def describe_blas(self):
        lines = []
        for who, blas in self.found.items():
            if not blas:
                lines.append(f"{who}: not OpenBLAS")
            elif who in self.helped:
                lines.append(f"{who}: OpenBLAS {blas['version']}, {self.best} kernels by OPENBLAS_CORETYPE "
                             f"({blas['core']} if left alone)")
            else:
                lines.append(f"{who}: OpenBLAS {blas['version']}, {blas['core']} kernels (its own choice)")
        return lines


def describe():
    memory_kb = int(first_match("/proc/meminfo", r"^MemTotal:\s*(\d+)", "0"))
    return {
        "processor": first_match("/proc/cpuinfo", r"^model name\s*:(.*)$", platform.processor()),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{memory_kb / 2**20:.1f} GiB",
        "system": first_match("/etc/os-release", r'^PRETTY_NAME="?([^"\n]*)', platform.system()) + ", Linux "
                  + platform.release(),
        "compiler": (output("c++", "--version").splitlines() or ["none found"])[0],
    }
