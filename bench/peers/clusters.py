"""Clusters by medoids, densities, graphs and linkages: scikit-learn, fastcluster, and the kmedoids package."""
import warnings

from common import THREADS, VARIANT, load, report, timed

warnings.filterwarnings("ignore")  # lobpcg's, that it ends a little early
(method,) = VARIANT
X = load("hclust_X" if method.endswith("linkage") else method + "_X")
if method == "kmedoids":
    import kmedoids
    from sklearn.metrics import pairwise_distances
    model, cost = timed(lambda: kmedoids.fasterpam(pairwise_distances(X), 20, init="random", random_state=1))
    report(cost, {"total": float(model.loss)}, note="distances among the time")
elif method == "dbscan":
    from sklearn.cluster import DBSCAN
    model, cost = timed(lambda: DBSCAN(eps=0.1, min_samples=5, n_jobs=THREADS).fit(X))
    report(cost, {"clusters": float(model.labels_.max() + 1), "noise": float((model.labels_ < 0).sum())})
elif method == "hdbscan":
    from sklearn.cluster import HDBSCAN
    model, cost = timed(lambda: HDBSCAN(min_cluster_size=20, n_jobs=THREADS).fit(X))
    report(cost, {"clusters": float(model.labels_.max() + 1)})
elif method == "spectral":
    from sklearn.cluster import SpectralClustering
    from sklearn.metrics import adjusted_rand_score
    model = SpectralClustering(4, affinity="nearest_neighbors", n_neighbors=10, eigen_solver="lobpcg", random_state=1,
                               n_jobs=THREADS)
    _, cost = timed(lambda: model.fit(X))
    report(cost, {"adjusted_rand": float(adjusted_rand_score(load("spectral_y").ravel(), model.labels_))})
elif method == "average_linkage":
    import fastcluster
    from scipy.spatial.distance import pdist
    tree, cost = timed(lambda: fastcluster.linkage(pdist(X[:10_000]), "average", preserve_input=False))
    report(cost, {"heights": float(tree[:, 2].sum())}, note="distances among the time")
elif method == "single_linkage":
    import fastcluster
    tree, cost = timed(lambda: fastcluster.linkage_vector(X, "single"))
    report(cost, {"heights": float(tree[:, 2].sum())})
