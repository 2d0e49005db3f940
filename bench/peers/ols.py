"""Least squares with an intercept: scikit-learn (SVD), or the normal equations (fast, loses half the digits)."""
import numpy as np
from common import VARIANT, load, report, timed

X, y = load("linreg_X"), load("linreg_y")


def sklearn():
    from sklearn.linear_model import LinearRegression

    model = LinearRegression(copy_X=False)
    return lambda: model.fit(X, y).coef_


def normal_equations():
    from scipy.linalg import cho_factor, cho_solve

    def solve():
        n, p = X.shape
        G = np.empty((p + 1, p + 1))
        G[0, 0] = n
        G[0, 1:] = G[1:, 0] = X.sum(axis=0)
        G[1:, 1:] = X.T @ X
        return cho_solve(cho_factor(G), np.r_[y.sum(), X.T @ y])[1:]

    return solve


coefficients, cost = timed({"sklearn": sklearn, "normal": normal_equations}[VARIANT[0]]())
# The intercept makes the residuals' mean 0; written so, it holds too when the solver has centred X in place.
e = y - X @ coefficients
e -= e.mean()
report(cost, {"rss": float(e @ e)})
