"""Kernel ridge regression, gamma = lambda = 0.1, no intercept: scikit-learn."""
import numpy as np
from common import load, report, timed
from sklearn.kernel_ridge import KernelRidge

X, y, Xt, yt = load("krr_X"), load("krr_y"), load("krr_Xt"), load("krr_yt")
model, cost = timed(lambda: KernelRidge(alpha=0.1, kernel="rbf", gamma=0.1).fit(X, y))
alpha = model.dual_coef_
report(cost, {"rss": float(0.01 * alpha @ alpha), "rmse": float(np.sqrt(np.mean((model.predict(Xt) - yt) ** 2)))})
