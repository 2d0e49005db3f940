"""Linear SVM by scikit-learn's liblinear on sparse rows: C = 1, the bias penalised. The dual value is the one it prints."""
import os
import re
import sys
import tempfile

import numpy as np
import scipy.sparse as sp
from common import DATA, VARIANT, load, report, timed
from sklearn.svm import LinearSVC

loss, tol = VARIANT[0], float(VARIANT[1])
X, y = sp.load_npz(os.path.join(DATA, "sparse_logit.npz")), load("sparse_logit_y")
model = LinearSVC(loss=loss, C=1.0, dual=True, tol=tol, max_iter=10_000, verbose=1, random_state=0)
with tempfile.TemporaryFile() as printed:
    sys.stdout.flush()
    stdout = os.dup(1)
    os.dup2(printed.fileno(), 1)
    _, cost = timed(lambda: model.fit(X, y))
    os.dup2(stdout, 1)
    printed.seek(0)
    found = re.search(rb"Objective value = (\S+)", printed.read())
w, b = model.coef_[0], model.intercept_[0]
slack = np.maximum(0, 1 - y * (X @ w + b))
primal = 0.5 * (w @ w + b * b) + float(slack.sum() if loss == "hinge" else slack @ slack)
quality = {"objective": primal}
if found:
    quality["gap"] = (primal + float(found.group(1))) / primal
report(cost, quality)
