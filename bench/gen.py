#!/usr/bin/env python3
"""Deterministic synthetic data for the workloads.

usage: gen.py DIR [--quick] [name …]      (no names: the data of workloads.py; `gen.py --list` lists all)

Every workload has its own seed, so one can be generated without the others. Dense data are C-order .npy (float64
unless said), sparse data .npz (scipy csr) and .svm (libsvm text, 1-based), tables .csv. `--quick` makes a tenth of the
rows, where the function says rows(n). Needs numpy, scipy, pandas: `bench/setup` puts them into bench/.venv.
"""
import os
import sys
import time

import numpy as np

W = {}
QUICK = "--quick" in sys.argv


def wl(f):
    W[f.__name__] = f
    return f


def rng(seed):
    return np.random.Generator(np.random.PCG64(seed))


def rows(n):
    """the full number of rows, or a tenth of it"""
    return n // 10 if QUICK else n


def whole(path, write):
    """writes to a temporary name and renames, so that an interrupted run leaves no half file"""
    write(path + ".part")
    os.replace(path + ".part", path)


def save(d, **arrs):
    def write(array):
        def to(path):
            with open(path, "wb") as f:
                np.save(f, np.ascontiguousarray(array))
        return to
    for k, v in arrs.items():
        whole(os.path.join(d, k + ".npy"), write(v))


def write_svm(path, X, y):
    """dense libsvm text, %.8g, labels as ints"""
    with open(path, "w") as f:
        n, p = X.shape
        fmt = " ".join("%d:%%.8g" % (j + 1) for j in range(p)) + "\n"
        for i in range(n):
            f.write("%d " % y[i])
            f.write(fmt % tuple(X[i]))


def write_svm_csr(path, A, y):
    with open(path, "w") as f:
        for i in range(A.shape[0]):
            a, b = A.indptr[i], A.indptr[i + 1]
            f.write("%d " % y[i] + " ".join("%d:%.8g" % (j + 1, v) for j, v in zip(A.indices[a:b], A.data[a:b])) + "\n")


def nonlinear_score(X):
    """Friedman-like score on the first 10 columns, X ~ N(0,1) iid"""
    s = 2.0 * np.sin(np.pi * X[:, 0] * X[:, 1] / 2) + X[:, 2] ** 2 - 1.0 + X[:, 3] - 0.7 * X[:, 4]
    s += 1.5 * (X[:, 5] > 0.3) * (X[:, 6] < 0.5) + 0.5 * X[:, 7] * X[:, 8] - 0.4 * np.abs(X[:, 9])
    return s


def clf_data(seed, n, d, noise, dtype=np.float64):
    r = rng(seed)
    X = r.standard_normal((n, d)).astype(dtype)
    s = nonlinear_score(X.astype(np.float64)) + noise * r.standard_normal(n)
    y = (s > 0.6).astype(np.int64)
    return X, y


@wl
def csv(d):
    """1e6 x 20 mixed table: 18 numeric (4 of them integers), 2 categorical, 1% missing"""
    import pandas as pd
    r = rng(1)
    n = rows(1_000_000)
    cols = {}
    for j in range(14):
        v = r.standard_normal(n) * 10.0 ** (j % 5 - 1)
        cols["x%d" % j] = np.round(v, 5)
    for j in range(4):
        cols["i%d" % j] = r.integers(0, 10 ** (j + 2), n).astype(float)
    cols["c0"] = np.array(["red", "green", "blue", "yellow", "black"])[r.integers(0, 5, n)]
    cols["c1"] = np.array(["lev%03d" % k for k in range(200)])[r.integers(0, 200, n)]
    df = pd.DataFrame(cols)
    for c in df.columns:
        m = r.random(n) < 0.01
        if c[0] == "i":
            s = df[c].astype("Int64")
            s[m] = pd.NA
            df[c] = s
        else:
            df.loc[m, c] = np.nan
    whole(os.path.join(d, "mixed.csv"), lambda path: df.to_csv(path, index=False, float_format="%.8g"))


@wl
def linreg(d):
    """OLS / ridge, n=1e6 d=100, correlated columns"""
    r = rng(2)
    n, p = rows(1_000_000), 100
    X = r.standard_normal((n, p))
    X[:, 1:] += 0.5 * X[:, :-1]
    b = r.standard_normal(p)
    y = X @ b + 3.0 + 2.0 * r.standard_normal(n)
    save(d, linreg_X=X, linreg_y=y)


def whole_csv(d, name, X, y):
    """Columns x1, x2, … and y as they would come from somewhere else: seven digits, labels as texts."""
    import pandas as pd
    table = pd.DataFrame(X, columns=["x%d" % (j + 1) for j in range(X.shape[1])])
    table["y"] = y
    whole(os.path.join(d, name + ".csv"), lambda path: table.to_csv(path, index=False, float_format="%.7g"))


@wl
def file_ols(d):
    """regression as files: 5e5 x 21 as CSV, 1e6 x 101 as one .npy with the response in the last column"""
    r = rng(41)
    n, p = rows(1_000_000), 100
    Z = np.empty((n, p + 1))
    Z[:, :p] = r.standard_normal((n, p))
    Z[:, 1:p] += 0.5 * Z[:, :p - 1]
    Z[:, p] = Z[:, :p] @ r.standard_normal(p) + 3.0 + 2.0 * r.standard_normal(n)
    save(d, file_ols=Z)
    half = n // 2
    whole_csv(d, "file_ols", Z[:half, :20], Z[:half, p])


def whole_classes(d, name, X, positive):
    """The same rows as a CSV file, with labels, and as one .npy with 0 and 1 in the last column."""
    save(d, **{name: np.column_stack([X, positive.astype(float)])})
    whole_csv(d, name, X, np.where(positive, "yes", "no"))


@wl
def file_logistic(d):
    """two classes as files: 5e5 x 21 as CSV and .npy"""
    r = rng(42)
    X = r.standard_normal((rows(500_000), 20))
    s = X @ (r.standard_normal(20) / 3) - 0.5
    whole_classes(d, "file_logistic", X, r.random(len(s)) < 1 / (1 + np.exp(-s)))


@wl
def file_kmeans(d):
    """50 groups as files: 5e5 x 20 as CSV and .npy; the start is given"""
    r = rng(43)
    n, p, k = rows(500_000), 20, 50
    c = r.standard_normal((k, p)) * 2
    X = np.round(c[r.integers(0, k, n)] + r.standard_normal((n, p)), 5)
    import pandas as pd
    names = ["x%d" % (j + 1) for j in range(p)]
    start = pd.DataFrame(X[r.choice(n, k, replace=False)], columns=names)
    save(d, file_kmeans=X)
    whole(os.path.join(d, "file_kmeans.csv"), lambda path: pd.DataFrame(X, columns=names).to_csv(path, index=False))
    whole(os.path.join(d, "file_kmeans_start.csv"), lambda path: start.to_csv(path, index=False))


@wl
def file_svm(d):
    """two classes as files: 2e4 x 21 as CSV and .npy"""
    X, y = clf_data(44, 20_000, 20, 0.5)
    whole_classes(d, "file_svm", X, y == 1)


@wl
def file_forest(d):
    """two classes as files: 1e5 x 31 as CSV and .npy"""
    X, y = clf_data(45, rows(100_000), 30, 1.0)
    whole_classes(d, "file_forest", X, y == 1)


@wl
def logit(d):
    """dense logistic, n=5e5 d=50, labels 0/1"""
    r = rng(3)
    n, p = 500_000, 50
    X = r.standard_normal((n, p))
    X[:, 1:] += 0.5 * X[:, :-1]
    b = r.standard_normal(p) / 3
    y = (r.random(n) < 1 / (1 + np.exp(-(X @ b - 0.5)))).astype(np.int64)
    save(d, logit_X=X, logit_y=y)


@wl
def glm_scan(d):
    """logistic again, n=1e6 d=50, labels 0/1 in a 51st column: one file to be streamed"""
    r = rng(33)
    n, p = rows(1_000_000), 50
    X = r.standard_normal((n, p + 1))
    X[:, 1:p] += 0.5 * X[:, :p - 1]
    b = r.standard_normal(p) / 3
    X[:, p] = r.random(n) < 1 / (1 + np.exp(-(X[:, :p] @ b - 0.5)))
    save(d, glm_scan=X)


@wl
def sparse_logit(d):
    """sparse logistic n=2e5 d=1e5, 50 nnz a row, zipf-like columns, labels -1/+1"""
    import scipy.sparse as sp
    r = rng(4)
    n, p, k = 200_000, 100_000, 50
    u = r.random((n, k))
    cols = np.minimum((p ** u - 1) / (p - 1) * p, p - 1).astype(np.int64)     # log-uniform
    cols = r.permutation(p)[cols]
    vals = np.abs(r.standard_normal((n, k))) + 0.1
    A = sp.csr_matrix((vals.ravel(), cols.ravel(), np.arange(0, n * k + 1, k)), shape=(n, p))
    A.sum_duplicates()
    A.sort_indices()
    nrm = np.sqrt(np.asarray(A.multiply(A).sum(1)).ravel())
    A = sp.diags(1 / nrm) @ A
    A = A.tocsr(); A.sort_indices()
    b = np.zeros(p)
    s = r.choice(p, 5000, replace=False)
    b[s] = 4 * r.standard_normal(5000)
    z = A @ b
    y = np.where(r.random(n) < 1 / (1 + np.exp(-z * 2)), 1, -1)
    sp.save_npz(os.path.join(d, "sparse_logit.npz"), A, compressed=False)
    save(d, sparse_logit_y=y.astype(np.int64))
    write_svm_csr(os.path.join(d, "sparse_logit.svm"), A, y)


def _lasso(d, name, seed, n, p, k):
    r = rng(seed)
    X = r.standard_normal((n, p))
    X[:, 1:] = 0.6 * X[:, :-1] + 0.8 * X[:, 1:]
    b = np.zeros(p)
    b[r.choice(p, k, replace=False)] = r.standard_normal(k)
    f = X @ b
    y = f + f.std() / 2 * r.standard_normal(n)
    X -= X.mean(0); X /= X.std(0); y -= y.mean(); y /= y.std()
    save(d, **{name + "_X": X, name + "_y": y})


@wl
def lasso_tall(d):
    """lasso path n=5000 d=2000; X, y standardised; 100 lambdas down to 1e-3 lambda_max"""
    _lasso(d, "lasso_tall", 5, rows(5000), 2000, 100)


@wl
def lasso_wide(d):
    """lasso path n=500 d=20000; X, y standardised; 100 lambdas down to 1e-2 lambda_max"""
    _lasso(d, "lasso_wide", 6, rows(500), 20000, 50)


def _svm(d, name, seed, n, p, ncomp, spread):
    r = rng(seed)
    n = rows(n)
    nt = n + rows(20000)
    cen = r.standard_normal((2, ncomp, p)) * spread
    y = r.integers(0, 2, nt)
    X = cen[y, r.integers(0, ncomp, nt)] + r.standard_normal((nt, p))
    flip = r.random(nt) < 0.05
    y = np.where(flip, 1 - y, y) * 2 - 1
    save(d, **{name + "_X": X[:n], name + "_y": y[:n], name + "_Xt": X[n:], name + "_yt": y[n:]})
    write_svm(os.path.join(d, name + ".svm"), X[:n], y[:n])
    write_svm(os.path.join(d, name + ".t.svm"), X[n:], y[n:])


@wl
def lad(d):
    """1e5 x 20 with errors of Student's t (3 degrees of freedom) that grow with a column"""
    r = rng(31)
    n, p = rows(100_000), 20
    X = r.standard_normal((n, p))
    X[:, 1:] += 0.5 * X[:, :1]
    b = np.linspace(-1, 1, p)
    y = 2 + X @ b + r.standard_t(3, n) * (1 + 0.3 * np.abs(X[:, 1]))
    save(d, lad_X=X, lad_y=y)


@wl
def svm_a(d):
    """n=20000 d=50, two classes each a mixture of 8 gaussians, 5% flipped labels; C=1 gamma=1/50"""
    _svm(d, "svm_a", 7, 20000, 50, 8, 0.45)


@wl
def svm_b(d):
    """n=60000 d=8, two classes each a mixture of 8 gaussians, 5% flipped; C=1 gamma=1/8"""
    _svm(d, "svm_b", 8, 60000, 8, 8, 1.2)


@wl
def svm_scaling(d):
    """as svm_b with n=100000; C=1 gamma=1/8"""
    _svm(d, "svm_scaling", 12, 100000, 8, 8, 1.2)


@wl
def kmeans_a(d):
    """n=1e6 d=20 k=50; initial centres = kmeans_a_init"""
    r = rng(9)
    n, p, k = rows(1_000_000), 20, 50
    c = r.standard_normal((k, p)) * 2
    X = c[r.integers(0, k, n)] + r.standard_normal((n, p))
    save(d, kmeans_a_X=X, kmeans_a_init=X[r.choice(n, k, replace=False)])


@wl
def kmeans_b(d):
    """n=1e5 d=128 k=1000; initial centres = kmeans_b_init"""
    r = rng(10)
    n, p, k = rows(100_000), 128, 1000
    B = r.standard_normal((16, p))
    c = r.standard_normal((k, 16)) @ B
    X = c[r.integers(0, k, n)] + 2 * r.standard_normal((n, p))
    save(d, kmeans_b_X=X, kmeans_b_init=X[r.choice(n, k, replace=False)])


@wl
def gmm(d):
    """n=2e5 d=20 k=10 full covariances; start: weights 1/k, means gmm_init, covariance of all the data"""
    r = rng(11)
    n, p, k = 200_000, 20, 10
    z = r.integers(0, k, n)
    X = np.empty((n, p))
    for j in range(k):
        A = np.eye(p) + 0.3 * r.standard_normal((p, p))
        m = z == j
        X[m] = r.standard_normal((m.sum(), p)) @ A.T + 1.5 * r.standard_normal(p)
    save(d, gmm_X=X, gmm_init=X[r.choice(n, k, replace=False)])


@wl
def pca_full(d):
    """n=2e5 d=500"""
    r = rng(12)
    n, p = rows(200_000), 500
    X = r.standard_normal((n, 40)) @ (r.standard_normal((40, p)) * np.linspace(2, .2, 40)[:, None])
    X += r.standard_normal((n, p))
    save(d, pca_full_X=X)


@wl
def pca_top(d):
    """n=2e4 d=5000, top 10"""
    r = rng(13)
    n, p = rows(20_000), 5000
    X = r.standard_normal((n, 30)) @ (r.standard_normal((30, p)) * np.linspace(2, .2, 30)[:, None])
    X += r.standard_normal((n, p))
    save(d, pca_top_X=X)


@wl
def knn_low(d):
    """n=1e6 d=3 (half uniform, half clustered), 1e5 queries, k=10"""
    r = rng(14)
    n, q = 1_000_000, 100_000
    def pts(m):
        c = rng(140).random((200, 3))
        P = r.random((m, 3))
        h = r.random(m) < 0.5
        P[h] = c[r.integers(0, 200, h.sum())] + 0.02 * r.standard_normal((h.sum(), 3))
        return P
    save(d, knn_low_X=pts(n), knn_low_Q=pts(q))


@wl
def knn_mid(d):
    """n=1e5 d=50, 1e4 queries, k=10 brute force"""
    r = rng(15)
    c = r.standard_normal((100, 50))
    X = c[r.integers(0, 100, 110_000)] + 0.7 * r.standard_normal((110_000, 50))
    save(d, knn_mid_X=X[:100_000], knn_mid_Q=X[100_000:])


@wl
def knn_most(d):
    """n=1e6 d=100 (12 directions and noise), 1e4 queries, k=10, most of the neighbours"""
    r = rng(17)
    turn = r.standard_normal((12, 100))
    c = r.standard_normal((500, 12))
    def pts(m):
        return (c[r.integers(0, 500, m)] + 0.5 * r.standard_normal((m, 12))) @ turn + 0.3 * r.standard_normal((m, 100))
    save(d, knn_most_X=pts(rows(1_000_000)), knn_most_Q=pts(10_000))


@wl
def tokens(d):
    """1e5 texts of about 1000 bytes: words by Zipf's law among 2e5, a capital and a stop at every tenth word or so"""
    r = rng(18)
    n, p, k = rows(100_000), 200_000, 160
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    share = 1 / np.arange(2.0, 28)
    words = np.array(["".join(r.choice(letters, size, p=share / share.sum()))
                      for size in np.minimum(2 + r.poisson(np.minimum(1 + np.log2(np.arange(p) + 1) / 3, 8)), 20)])
    which = np.minimum((p ** r.random((n, k)) - 1).astype(np.int64), p - 1)
    stops = r.random((n, k)) < 0.1
    def write(path):
        with open(path, "w") as f:
            f.write("body\n")
            for i in range(n):
                f.write('"' + " ".join(w.capitalize() + "." if s else w for w, s in zip(words[which[i]], stops[i])) + '"\n')
    whole(os.path.join(d, "tokens.csv"), write)


@wl
def scores(d):
    """n=1e7 scores of two classes, a quarter positive, many of them tied"""
    r, n = rng(41), rows(10_000_000)
    y = (r.random(n) < 0.25).astype(float)
    save(d, scores_s=np.round(r.standard_normal(n) + y, 6)[:, None], scores_y=y[:, None])


@wl
def forward(d):
    """n=5e3 d=200, ten columns that count"""
    r, n = rng(42), rows(5_000)
    X = r.standard_normal((n, 200))
    y = X[:, :10].sum(axis=1) + r.standard_normal(n)
    names = ",".join(["y"] + [f"x{j + 1}" for j in range(200)])
    whole(os.path.join(d, "forward.csv"),
          lambda path: np.savetxt(path, np.column_stack([y, X]), fmt="%.6f", delimiter=",", header=names, comments=""))


@wl
def cart(d):
    """n=2e5 (+2e4 test) d=30 two-class"""
    X, y = clf_data(16, 220_000, 30, 1.0)
    save(d, cart_X=X[:200_000], cart_y=y[:200_000], cart_Xt=X[200_000:], cart_yt=y[200_000:])


@wl
def forest(d):
    """n=1e5 (+2e4 test) d=30 two-class (also adaboost)"""
    X, y = clf_data(17, 120_000, 30, 1.0)
    save(d, forest_X=X[:100_000], forest_y=y[:100_000], forest_Xt=X[100_000:], forest_yt=y[100_000:])


@wl
def gbm(d):
    """n=1e6 (+1e5 test) d=28 float32 two-class"""
    X, y = clf_data(18, 1_100_000, 28, 1.0, np.float32)
    save(d, gbm_X=X[:1_000_000], gbm_y=y[:1_000_000], gbm_Xt=X[1_000_000:], gbm_yt=y[1_000_000:])


@wl
def gbm_categories(d):
    """n=2e5 (+2e4 test): 10 columns of codes from 0 to 999, each code with an effect of its own, and 5 of numbers"""
    r = rng(26)
    n, m = 220_000, 200_000
    codes = r.integers(0, 1000, (n, 10))
    numbers = r.standard_normal((n, 5))
    effects = r.standard_normal((10, 1000)) * np.linspace(1.0, 0.1, 10)[:, None]
    s = sum(effects[j, codes[:, j]] for j in range(10)) + numbers[:, 0] * numbers[:, 1] + r.standard_normal(n)
    X, y = np.hstack([codes.astype(np.float64), numbers]), (s > 0).astype(np.int64)
    save(d, gbm_categories_X=X[:m], gbm_categories_y=y[:m], gbm_categories_Xt=X[m:], gbm_categories_yt=y[m:])


@wl
def tree_scaling(d):
    """n=1e7 d=4 float32 two-class: the first rows of it, for time by rows"""
    r = rng(27)
    n = rows(10_000_000)
    X = r.standard_normal((n, 4)).astype(np.float32)
    s = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + r.standard_normal(n)
    save(d, tree_scaling_X=X, tree_scaling_y=(s > 0).astype(np.int64))


@wl
def hclust(d):
    """d=10 clustered points: first 10000 for average linkage, all 20000 for single linkage"""
    r = rng(19)
    c = r.standard_normal((30, 10)) * 2
    save(d, hclust_X=c[r.integers(0, 30, 20000)] + r.standard_normal((20000, 10)))


@wl
def kmedoids(d):
    """n=1e4 d=10, 20 groups"""
    r = rng(51)
    n = rows(10_000)
    c = r.standard_normal((20, 10)) * 4
    save(d, kmedoids_X=c[r.integers(0, 20, n)] + r.standard_normal((n, 10)))


@wl
def dbscan(d):
    """n=1e6 d=3, 30 groups; radius 0.1, 5 rows in reach"""
    r = rng(52)
    n = rows(1_000_000)
    c = r.standard_normal((30, 3)) * 8
    save(d, dbscan_X=c[r.integers(0, 30, n)] + 0.5 * r.standard_normal((n, 3)))


@wl
def hdbscan(d):
    """n=5e4 d=10, 15 groups; clusters of at least 20"""
    r = rng(53)
    n = rows(50_000)
    c = r.standard_normal((15, 10)) * 6
    save(d, hdbscan_X=c[r.integers(0, 15, n)] + r.standard_normal((n, 10)))


@wl
def spectral(d):
    """n=1e4 in the plane, 4 rings around each other; 10 neighbours"""
    r = rng(54)
    n = rows(10_000)
    ring, angle = r.integers(0, 4, n), r.uniform(0, 2 * np.pi, n)
    X = np.column_stack([(ring + 1) * np.cos(angle), (ring + 1) * np.sin(angle)]) + 0.08 * r.standard_normal((n, 2))
    save(d, spectral_X=X, spectral_y=ring.astype(float)[:, None])


@wl
def kde(d):
    """n=1e5 d=2 gaussian kernel, bandwidth 0.1, 1e4 queries"""
    r = rng(20)
    c = r.standard_normal((20, 2)) * 2
    X = c[r.integers(0, 20, 110_000)] + 0.5 * r.standard_normal((110_000, 2))
    save(d, kde_X=X[:100_000], kde_Q=X[100_000:])


@wl
def gp(d):
    """n=4000 (+1000 test) d=5, RBF length 1, variance 1, noise variance 0.01"""
    r = rng(21)
    X = r.uniform(-2, 2, (5000, 5))
    y = np.sin(X[:, 0] * 2) + X[:, 1] * np.cos(X[:, 2]) + 0.5 * X[:, 3] ** 2 - X[:, 4] * 0.3
    y = (y - y.mean()) / y.std() + 0.1 * r.standard_normal(5000)
    save(d, gp_X=X[:4000], gp_y=y[:4000], gp_Xt=X[4000:], gp_yt=y[4000:])


@wl
def krr(d):
    """n=5000 (+1000 test) d=10, kernel ridge regression with gamma 0.1 and lambda 0.1"""
    r = rng(41)
    X = r.standard_normal((6000, 10))
    y = np.sin(X[:, 0] * 2) + X[:, 1] * np.cos(X[:, 2]) + 0.5 * X[:, 3] ** 2 + 0.1 * r.standard_normal(6000)
    save(d, krr_X=X[:5000], krr_y=y[:5000], krr_Xt=X[5000:], krr_yt=y[5000:])


@wl
def mlp(d):
    """60000 (+10000 test) x 784 in [0,1], 10 classes (smoothed prototypes + noise)"""
    r = rng(22)
    n = 70_000
    P = r.standard_normal((10, 4, 28, 28))
    for _ in range(3):
        P = (P + np.roll(P, 1, 2) + np.roll(P, -1, 2) + np.roll(P, 1, 3) + np.roll(P, -1, 3)) / 5
    P = P.reshape(10, 4, 784); P /= P.std()
    y = r.integers(0, 10, n)
    X = 0.35 * P[y, r.integers(0, 4, n)] + r.standard_normal((n, 784))
    X = np.clip(0.5 + X / 5, 0, 1)
    save(d, mlp_X=X[:60000], mlp_y=y[:60000], mlp_Xt=X[60000:], mlp_yt=y[60000:])


@wl
def manifold(d):
    """swiss roll 5000 x 3 (isomap: first 3000; lle: all; mds: first 2000), spectral: 10000 x 2 noisy rings"""
    r = rng(23)
    t = 1.5 * np.pi * (1 + 2 * r.random(5000))
    X = np.c_[t * np.cos(t), 21 * r.random(5000), t * np.sin(t)]
    n = 10000
    lab = r.integers(0, 4, n)
    th = 2 * np.pi * r.random(n)
    R = np.c_[(lab + 1) * 1.5 * np.cos(th), (lab + 1) * 1.5 * np.sin(th)] + 0.12 * r.standard_normal((n, 2))
    save(d, manifold_X=X, manifold_t=t, mds_init=r.standard_normal((2000, 2)) * 5, rings_X=R, rings_y=lab)


def main(arguments):
    if "--list" in arguments:
        for name, make in W.items():
            print("%-13s %s" % (name, make.__doc__))
        return
    names = [a for a in arguments if not a.startswith("-")]
    if not names:
        sys.exit(__doc__)
    out, names = names[0], names[1:]
    if not names:
        from workloads import WORKLOADS
        names = list(dict.fromkeys(w.data for w in WORKLOADS if w.data))
    unknown = [name for name in names if name not in W]
    if unknown:
        sys.exit("gen.py: no data set called '%s'; there are: %s" % (unknown[0], " ".join(W)))
    os.makedirs(out, exist_ok=True)
    for name in names:
        start = time.time()
        W[name](out)
        print("%-13s %.1f s" % (name, time.time() - start), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
