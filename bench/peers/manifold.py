"""Embeddings of a swiss roll, and kernel PCA: isomap, lle, smacof, kernel_pca."""
import numpy as np
from common import VARIANT, load, report, timed

(which,) = VARIANT
rows = {"isomap": 3000, "lle": 5000, "smacof": 2000, "kernel_pca": 5000}[which]
X = load("manifold_X")[:rows]


def isomap():
    from sklearn.manifold import Isomap

    model = Isomap(n_neighbors=10, n_components=2)
    model.fit(X)
    return {"first eigenvalue": float(model.kernel_pca_.eigenvalues_[0])}


def lle():
    from sklearn.manifold import LocallyLinearEmbedding

    model = LocallyLinearEmbedding(n_neighbors=12, n_components=2, reg=1e-3, random_state=0)
    model.fit(X)
    return {"cost": float(model.reconstruction_error_)}


def smacof():
    """One start, until the relative change is 1e-6: its default of 1e-3 stops far from the minimum."""
    from sklearn.manifold import MDS

    model = MDS(n_components=2, n_init=1, max_iter=3000, eps=1e-6, random_state=0)
    model.fit(X)
    return {"raw stress": float(model.stress_)}


def kernel_pca():
    from sklearn.decomposition import KernelPCA

    model = KernelPCA(n_components=10, kernel="rbf", gamma=0.01, eigen_solver="arpack", random_state=0)
    model.fit(X)
    return {"sum of eigenvalues": float(np.sum(model.eigenvalues_))}


quality, cost = timed({"isomap": isomap, "lle": lle, "smacof": smacof, "kernel_pca": kernel_pca}[which])
report(cost, quality)
