"""Gaussian process regression with given hyperparameters (RBF of length 1, variance 1, noise variance 0.01), then mean
and standard deviation at 1,000 rows: scikit-learn, or a Cholesky factorisation by hand."""
import numpy as np
from common import VARIANT, load, report, timed

NOISE = 0.01
X, y, Xt, yt = load("gp_X"), load("gp_y"), load("gp_Xt"), load("gp_yt")


def sklearn():
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    def work():
        model = GaussianProcessRegressor(RBF(1.0), alpha=NOISE, optimizer=None).fit(X, y)
        mean, sd = model.predict(Xt, return_std=True)
        return mean, sd, model.log_marginal_likelihood_value_

    return work


def by_hand():
    from scipy.linalg import cho_factor, cho_solve, solve_triangular

    def kernel(A, B):
        d = (A * A).sum(1)[:, None] + (B * B).sum(1)[None, :] - 2 * A @ B.T
        return np.exp(-0.5 * np.maximum(d, 0, out=d), out=d)

    def work():
        K = kernel(X, X)
        K[np.diag_indices(len(K))] += NOISE
        L, lower = cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
        alpha = cho_solve((L, lower), y, check_finite=False)
        Ks = kernel(X, Xt)
        V = solve_triangular(L, Ks, lower=True, check_finite=False)
        sd = np.sqrt(1 - (V * V).sum(0))
        lml = -0.5 * y @ alpha - np.log(np.diag(L)).sum() - 0.5 * len(y) * np.log(2 * np.pi)
        return Ks.T @ alpha, sd, lml

    return work


(mean, sd, lml), cost = timed({"sklearn": sklearn, "cholesky": by_hand}[VARIANT[0]]())
report(cost, {"lml": float(lml), "rmse": float(np.sqrt(np.mean((mean - yt) ** 2))), "mean_sd": float(sd.mean())})
