"""Support vector machines with the Gaussian kernel, C = 1, gamma = 1/d, tolerance 1e-3, a cache of 1000 MB.

svm.py DATA THREADS NAME WHAT WHO: WHAT is fit or predict, WHO libsvm (its programs svm-train and svm-predict) or sklearn.
svm.py DATA THREADS svm_scaling N …: libsvm's seconds on the first N rows.

libsvm's programs read and write text: what a run on the same file takes that stops before its first step (-e 1e9), or
with a model of two support vectors, is subtracted. Objective and gap are computed from the model, in double.
"""
import os
import re
import resource
import subprocess
import tempfile
import time

import numpy as np
from common import DATA, VARIANT, load, report, timed


def path(name):
    return os.path.join(DATA, name)


def run(*command):
    """Wall and processor seconds of a program."""
    wall, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"seconds": time.perf_counter() - wall,
            "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def less(cost, text):
    return {name: cost[name] - text[name] for name in cost}


def train(rows, width, model, tolerance="1e-3"):
    return run("svm-train", "-q", "-t", "2", "-g", repr(1 / width), "-c", "1", "-m", "1000", "-e", tolerance, rows, model)


def read_model(file, width):
    """t alpha, the support vectors, b for the class 1."""
    head, body = open(file).read().split("SV\n", 1)
    positive = re.search(r"label (\S+)", head).group(1) == "1"
    rho = float(re.search(r"rho (\S+)", head).group(1))
    lines = body.strip().splitlines()
    coefficients, vectors = np.empty(len(lines)), np.zeros((len(lines), width))
    for i, line in enumerate(lines):
        first, *rest = line.split()
        coefficients[i] = float(first)
        for pair in rest:
            j, value = pair.split(":")
            vectors[i, int(j) - 1] = float(value)
    return (coefficients, vectors, -rho) if positive else (-coefficients, vectors, rho)


def values(rows, coefficients, vectors):
    """sum of t alpha k(row, vector), a block of rows at a time."""
    gamma, norms, out = 1 / rows.shape[1], (vectors ** 2).sum(1), np.empty(len(rows))
    for i in range(0, len(rows), 500):
        x = rows[i:i + 500]
        squares = (x ** 2).sum(1)[:, None] + norms - 2 * x @ vectors.T
        out[i:i + 500] = np.exp(-gamma * squares) @ coefficients
    return out


def quality(X, y, coefficients, vectors, b):
    f = values(X, coefficients, vectors)
    norm = float(coefficients @ values(vectors, coefficients, vectors))
    primal = 0.5 * norm + float(np.maximum(0, 1 - y * (f + b)).sum())
    dual = float(np.abs(coefficients).sum()) - 0.5 * norm
    return {"objective": -dual, "gap": (primal - dual) / primal, "support": len(coefficients)}


def fit(name, who):
    X, y = load(name + "_X"), load(name + "_y")
    width = X.shape[1]
    if who == "sklearn":
        from sklearn.svm import SVC
        model, cost = timed(lambda: SVC(C=1.0, gamma=1 / width, tol=1e-3, cache_size=1000).fit(X, y))
        report(cost, quality(X, y, model.dual_coef_[0], model.support_vectors_, model.intercept_[0]))
        return
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model")
        text = train(path(name + ".svm"), width, model, "1e9")
        cost = train(path(name + ".svm"), width, model)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        report(less(cost, text), quality(X, y, *read_model(model, width)), note=f"svm-train's own peak is {peak:.0f} MB")


def predict(name, _who):
    """The share of right answers is printed by svm-predict; the model is kept beside the data."""
    width, rows, model = load(name + "_X").shape[1], path(name + ".t.svm"), path(name + ".libsvm")
    if not os.path.exists(model):
        train(path(name + ".svm"), width, model + ".part")
        os.replace(model + ".part", model)
    with tempfile.TemporaryDirectory() as folder:
        answers, small = os.path.join(folder, "answers"), os.path.join(folder, "small")
        head, body = open(model).read().split("SV\n", 1)
        with open(small, "w") as f:
            f.write(re.sub(r"nr_sv .*", "nr_sv 1 1", re.sub(r"total_sv .*", "total_sv 2", head)) + "SV\n")
            f.writelines(line + "\n" for line in (body.splitlines()[0], body.splitlines()[-1]))
        text = run("svm-predict", rows, small, answers)
        cost = run("svm-predict", rows, model, answers)
        right = np.mean(np.loadtxt(answers) == load(name + "_yt"))
    report(less(cost, text), {"right": float(right)})


def scaling(name, *sizes):
    width, total, each = load(name + "_X").shape[1], {"seconds": 0.0, "cpu": 0.0}, {}
    lines = open(path(name + ".svm")).read().splitlines(keepends=True)
    with tempfile.TemporaryDirectory() as folder:
        rows, model = os.path.join(folder, "rows"), os.path.join(folder, "model")
        for size in sizes:
            with open(rows, "w") as f:
                f.writelines(lines[:int(size)])
            cost = less(train(rows, width, model), train(rows, width, model, "1e9"))
            each[size] = cost["seconds"]
            total = {key: total[key] + cost[key] for key in total}
    report(total, each)


if VARIANT[0] == "svm_scaling":
    scaling(*VARIANT)
else:
    {"fit": fit, "predict": predict}[VARIANT[1]](VARIANT[0], VARIANT[2])
