"""Densities of 1e4 places by 1e5 rows, Gaussian kernels, relative error 1e-4: scikit-learn."""
from common import load, report, timed
from sklearn.neighbors import KernelDensity

X, places = load("kde_X"), load("kde_Q")
said, cost = timed(lambda: KernelDensity(bandwidth=0.1, rtol=1e-4).fit(X).score_samples(places))
report(cost, {"log_likelihood": float(said.sum())})
