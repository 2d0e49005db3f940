"""The lasso path of 100 lambdas by scikit-learn's lasso_path, at a given tolerance."""
import numpy as np
from common import VARIANT, load, report, timed
from sklearn.linear_model import lasso_path

name, ratio, tolerance = VARIANT[0], float(VARIANT[1]), float(VARIANT[2])
X, y = np.asfortranarray(load(name + "_X")), load(name + "_y").ravel()
n = len(y)
lambdas = np.abs(X.T @ y).max() / n * np.logspace(0, np.log10(ratio), 100)

(_, coefficients, _), cost = timed(lambda: lasso_path(X, y, alphas=lambdas, tol=tolerance, max_iter=100_000))
residuals = y[:, None] - X @ coefficients
objective = (residuals**2).sum(axis=0) / (2 * n) + lambdas * np.abs(coefficients).sum(axis=0)
report(cost, {"mean_objective": float(objective.mean())})
