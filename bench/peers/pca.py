"""Principal components: all of them (pca_full), or the first ten (pca_top)."""
import numpy as np
from common import VARIANT, load, report, timed

data, how = VARIANT
X = load(data + "_X")


def eigenvalues_first_largest(covariance):
    values, vectors = np.linalg.eigh(covariance)
    return values[::-1]


def covariance_by_hand():
    """One symmetric rank-k update and no centred copy of X: the fastest there is, fine while the means are small."""
    n = len(X)
    m = np.ones(n) @ X / n
    return (X.T @ X - n * np.outer(m, m)) / (n - 1)


def sklearn(**options):
    from sklearn.decomposition import PCA

    model = PCA(copy=False, random_state=0, **options)
    return lambda: model.fit(X).explained_variance_


work = {
    "gram": lambda: lambda: eigenvalues_first_largest(covariance_by_hand()),
    "cov": lambda: lambda: eigenvalues_first_largest(np.cov(X, rowvar=False)),
    "full": lambda: sklearn(svd_solver="full"),
    "covariance_eigh": lambda: sklearn(svd_solver="covariance_eigh"),
    "randomized": lambda: sklearn(svd_solver="randomized", n_components=10, iterated_power="auto"),
}[how]()
variances, cost = timed(work)
quality = {"top10": float(variances[:10].sum())}
if data == "pca_full":
    quality["all"] = float(variances.sum())
report(cost, quality)
