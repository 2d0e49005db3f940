"""A whole process as a user would write it: read a file, fit, keep the model. usage: … METHOD FILE READER PACKAGE"""
import json
import os
import pickle
import sys

DATA, THREADS, METHOD, FILE, READER, PACKAGE = sys.argv[1:7]  # common.py takes its own from them
PATH = os.path.join(DATA, FILE)

if PACKAGE == "onedal":  # under the names of scikit-learn
    from common import use_onedal
    use_onedal()

import numpy as np


def read():
    """X, and the last column as y where there is one."""
    if READER == "numpy":
        Z = np.load(PATH)
        return (Z, None) if METHOD == "kmeans" else (Z[:, :-1], Z[:, -1])
    if READER == "polars":
        import polars
        table = polars.read_csv(PATH)
        names = [name for name in table.columns if name != "y"]
        X = table.select(names).to_numpy()
        return np.ascontiguousarray(X), table["y"].to_numpy() if "y" in table.columns else None
    import pandas
    table = pandas.read_csv(PATH)
    y = table.pop("y").to_numpy() if "y" in table.columns else None
    return table.to_numpy(), y


def ols(X, y):
    from sklearn.linear_model import LinearRegression
    model = LinearRegression().fit(X, y)
    return model, {"rss": float(((y - model.predict(X)) ** 2).sum())}


def logistic(X, y):
    from sklearn.linear_model import LogisticRegression
    model = LogisticRegression(C=1.0, tol=1e-6, max_iter=1000).fit(X, y)
    f = X @ model.coef_[0] + model.intercept_[0]
    loss = np.logaddexp(0, np.where(y == model.classes_[1], -f, f)).sum()
    return model, {"objective": float(loss + 0.5 * model.coef_[0] @ model.coef_[0])}


def kmeans(X, _):
    from sklearn.cluster import KMeans
    start = np.loadtxt(os.path.join(DATA, "file_kmeans_start.csv"), delimiter=",", skiprows=1)
    model = KMeans(len(start), init=start, n_init=1, max_iter=20, tol=0, algorithm="lloyd").fit(X)
    return model, {"inertia": float(model.inertia_)}


def svm(X, y):
    from sklearn.svm import SVC
    model = SVC(C=1.0, gamma=0.05).fit(X, y)
    return model, {"support": int(model.n_support_.sum())}


def forest(X, y):
    from sklearn.ensemble import RandomForestClassifier
    model = RandomForestClassifier(n_estimators=100, n_jobs=int(THREADS), random_state=0, oob_score=True).fit(X, y)
    return model, {"error": float(1 - model.oob_score_)}


model, quality = {"ols": ols, "logistic": logistic, "kmeans": kmeans, "svm": svm, "forest": forest}[METHOD](*read())
with open("model.pickle", "wb") as file:
    pickle.dump(model, file)
print(json.dumps({"quality": quality}))
