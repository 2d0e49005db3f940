"""Lloyd's iterations from given centres, a given number of them, with scikit-learn, or faiss in float32, all it has."""
import warnings

from common import THREADS, VARIANT, load, report, timed

data, algorithm, iterations = VARIANT
X, start = load(data + "_X"), load(data + "_init")
if algorithm == "faiss":
    import faiss
    import numpy as np
    faiss.omp_set_num_threads(THREADS)
    X, start = X.astype(np.float32), start.astype(np.float32)
    model = faiss.Kmeans(X.shape[1], len(start), niter=int(iterations), max_points_per_centroid=len(X))
    _, cost = timed(lambda: model.train(X, init_centroids=start))
    distances, _ = model.index.search(X, 1)
    report(cost, {"inertia": float(distances.astype(float).sum())}, note="float32")
else:
    from sklearn.cluster import KMeans
    warnings.filterwarnings("ignore")  # that it has not converged after so few iterations
    model = KMeans(len(start), init=start, n_init=1, max_iter=int(iterations), tol=0, algorithm=algorithm, copy_x=False)
    _, cost = timed(lambda: model.fit(X))
    report(cost, {"inertia": float(model.inertia_)}, note=f"{model.n_iter_} iterations")
