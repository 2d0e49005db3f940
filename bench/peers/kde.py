"""Densities of 1e4 places by 1e5 rows, Gaussian kernels, relative error 1e-4: scikit-learn, or mlpack's two trees."""
import numpy as np
from common import VARIANT, load, report, timed

X, places = load("kde_X"), load("kde_Q")
if VARIANT == ["mlpack"]:
    import mlpack
    said, cost = timed(lambda: np.log(mlpack.kde(reference=X, query=places, bandwidth=0.1, rel_error=1e-4,
                                                 algorithm="dual-tree", tree="kd-tree",
                                                 copy_all_inputs=False)["predictions"]))
else:
    from sklearn.neighbors import KernelDensity
    said, cost = timed(lambda: KernelDensity(bandwidth=0.1, rtol=1e-4).fit(X).score_samples(places))
report(cost, {"log_likelihood": float(said.sum())})
