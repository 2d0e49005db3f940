#!/usr/bin/env python3
"""The loss of each epoch by NumPy's own arithmetic, from the same weights and batches as Lemma's, held against Lemma's.

    bench/.venv/bin/python bench/epochs.py [build/bench/bin/lemma_bench]
"""
import json
import subprocess
import sys

import numpy as np

tool = sys.argv[1] if len(sys.argv) > 1 else "build/bench/bin/lemma_bench"
told = json.loads(subprocess.run([tool, "epochs", "."], check=True, capture_output=True, text=True).stdout)
X, T = np.array(told["x"]), np.array(told["targets"])
SIZES, BATCH, STEP, FADE, MU, DECAY = (12, 20, 8, 3), 64, 0.01, 0.1, 0.9, 0.5
n = len(X)


def layers(theta):
    out, at = [], 0
    for fan_in, units in zip(SIZES, SIZES[1:]):
        W = theta[at:at + units * fan_in].reshape(units, fan_in)
        at += W.size
        out.append((W, theta[at:at + units]))
        at += units
    return out


def loss_and_gradient(theta, x, t):
    a, net = [x], layers(theta)
    for W, b in net[:-1]:
        a.append(np.maximum(a[-1] @ W.T + b, 0))
    z = a[-1] @ net[-1][0].T + net[-1][1]
    shifted = z - z.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    delta, parts = np.exp(log_p) - t, []
    for l in range(len(net) - 1, -1, -1):
        parts = [(delta.T @ a[l]).ravel(), delta.sum(axis=0), *parts]
        if l:
            delta = (delta @ net[l][0]) * (a[l] > 0)
    return -(log_p * t).sum(), np.concatenate(parts)


def penalised(theta):
    return np.concatenate([np.concatenate([W.ravel(), 0 * b]) for W, b in layers(theta)])


def epochs(solver):
    theta = np.array(told["start"])
    v, s, steps, out = np.zeros_like(theta), np.zeros_like(theta), 0, []
    for epoch in range(10):
        order, step, total = np.array(told["orders"][str(epoch)], dtype=int), STEP / (1 + FADE * epoch), 0.0
        for begin in range(0, n, BATCH):
            rows = order[begin:begin + BATCH]
            loss, g = loss_and_gradient(theta, X[rows], T[rows])
            total += loss
            steps += 1
            g = g / len(rows) + DECAY / n * penalised(theta)
            if solver == "adam":
                v, s = MU * v + (1 - MU) * g, 0.999 * s + 0.001 * g * g
                theta = theta - step * (v / (1 - MU**steps)) / (np.sqrt(s / (1 - 0.999**steps)) + 1e-8)
            elif solver == "rmsprop":
                s = 0.9 * s + 0.1 * g * g
                theta = theta - step * g / (np.sqrt(s) + 1e-8)
            else:
                v = MU * v + g
                theta = theta - step * (g + MU * v if solver == "nesterov" else v)
        out.append(total / n)
    return np.array(out)


ALLOWED = {"double": 1e-9, "single": 1e-4}
wrong = []
print("| solver   | precision | loss of the first epoch | of the tenth | largest relative difference |")
print("| -------- | --------- | ----------------------: | -----------: | --------------------------: |")
for precision, solvers in told["losses"].items():
    for solver, losses in solvers.items():
        off = np.abs(epochs(solver) / np.array(losses) - 1).max()
        if off > ALLOWED[precision]:
            wrong.append(f"{solver}, {precision}: the losses differ by {off:.1e}, and {ALLOWED[precision]:.0e} is allowed")
        print(f"| {solver:8} | {precision:9} | {losses[0]:23.6f} | {losses[-1]:12.6f} | {off:27.1e} |")
sys.exit("\n".join(wrong) or 0)
