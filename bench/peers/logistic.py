"""Logistic regression, C = 1: scikit-learn's own solvers on dense rows, its liblinear on sparse ones."""
import os

import numpy as np
from common import DATA, VARIANT, load, report, timed
from sklearn.linear_model import LogisticRegression

workload, solver = VARIANT


def objective(margins, penalty):
    return float(np.logaddexp(0, -margins).sum() + penalty)


if workload == "logit":
    X, y = load("logit_X"), load("logit_y")
    # tol: the largest for which the objective has all the digits that are compared.
    model = LogisticRegression(solver=solver, C=1.0, max_iter=1000, tol=1e-6 if solver == "lbfgs" else 1e-4)
    _, cost = timed(lambda: model.fit(X, y))
    b = model.coef_[0]
    margins = (X @ b + model.intercept_[0]) * (2 * y - 1)
    report(cost, {"objective": objective(margins, 0.5 * b @ b)})
else:
    import scipy.sparse as sp

    X, y = sp.load_npz(os.path.join(DATA, "sparse_logit.npz")), load("sparse_logit_y")
    l1 = workload == "sparse_logit_l1"
    tol = {"dual": 1e-3, "primal": 1e-4, "newglmnet": 1e-2}[solver]
    model = LogisticRegression(solver="liblinear", l1_ratio=1.0 if l1 else 0.0, C=1.0, dual=solver == "dual",
                               fit_intercept=False, tol=tol, max_iter=1000)
    _, cost = timed(lambda: model.fit(X, y))
    b = model.coef_[0]
    penalty = np.abs(b).sum() if l1 else 0.5 * b @ b
    quality = {"objective": objective((X @ b) * y, penalty)}
    if l1:
        quality["nonzero"] = int((b != 0).sum())
    report(cost, quality)
