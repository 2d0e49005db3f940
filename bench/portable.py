#!/usr/bin/env python3
"""What --portable costs on this CPU: fits of the tool with all the vector units it has, and with --portable, in turn.

usage: portable.py [--tool PATH] [--runs 7]       prints the table that stands in RESULTS.md, under "What --portable costs"

One thread, and processor time (user + system): the two take turns, and what other processes do hardly enters. Needs nothing but
Python's own library.
"""
import argparse
import array
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile

ROWS, COLUMNS = 100_000, 60

FITS = [
    ("ols", ["ols", "{data}", "x1 ~ . - x2"], "least squares, 1e5 x 58"),
    ("pca", ["pca", "{data}", "~ . - x2"], "all components, 1e5 x 59"),
    ("kmeans", ["kmeans", "{data}", "~ . - x2", "--k", "50", "--restarts", "1", "--max_iterations", "20"],
     "k = 50, 20 steps, 1e5 x 59"),
    ("lda", ["lda", "{data}", "factor(x2) ~ ."], "two classes, 1e5 x 59"),
    ("logistic", ["logistic", "{data}", "factor(x2) ~ ."], "lambda 1, 1e5 x 59"),
    ("svm", ["svm", "{data}", "factor(x2) ~ .", "--rows", "1:4000"], "rbf, 4,000 x 59"),
    ("gp", ["gp", "{data}", "x1 ~ x3 + x4 + x5", "--rows", "1:3000", "--optimise", "false"], "3,000 rows, no search"),
]


def make(path):
    """x1: a linear response; x2: two overlapping classes; the others: normal columns that share a common part"""
    rng = random.Random(20)
    weights = [rng.gauss(0, 1) for _ in range(COLUMNS)]
    numbers = array.array("d")
    for _ in range(ROWS):
        common = 0.5 * rng.gauss(0, 1)
        row = [common + rng.gauss(0, 1) for _ in range(COLUMNS)]
        linear = sum(w * x for w, x in zip(weights[2:], row[2:]))
        row[0] = linear + rng.gauss(0, 1)
        row[1] = 1.0 if linear + 10 * rng.gauss(0, 1) > 0 else 0.0
        numbers.extend(row)
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (ROWS, COLUMNS)
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode())
        numbers.tofile(file)


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended.returncode not in (0, 1):  # 1: done, but the certificate asks for more iterations
        sys.exit(f"{' '.join(command)}: {ended.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--tool", default=os.path.join(os.path.dirname(__file__), "..", "build", "release", "bin", "lemma"))
    asked.add_argument("--runs", type=int, default=7)
    asked = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data.npy")
        make(data)
        print("| fit | own s | portable s | ratio | what |\n|---|---:|---:|---:|---|")
        for name, words, what in FITS:
            command = [asked.tool, "fit", *(word.format(data=data) for word in words), "--threads", "1", "--quiet"]
            pairs = [(seconds(command), seconds(command + ["--portable"])) for _ in range(asked.runs)]
            own, portable = (statistics.median(side) for side in zip(*pairs))
            ratio = statistics.median(p / o for o, p in pairs)
            print(f"| {name} | {own:.3f} | {portable:.3f} | {ratio:.2f} | {what} |", flush=True)


if __name__ == "__main__":
    main()
