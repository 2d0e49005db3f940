"""The 10 nearest of each query, the structure among the time: SciPy's cKDTree, scikit-learn's brute force, faiss in float32."""
import numpy as np
from common import THREADS, VARIANT, load, report, timed

data, how = VARIANT
X, Q = load(data + "_X"), load(data + "_Q")
K, RECALL = 10, 0.95


def truth(some):
    import faiss
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X.astype(np.float32))
    return index.search(Q[:some].astype(np.float32), K)[1]


def recall(found):
    some = min(500, len(Q))
    return float(np.mean([len(set(a) & set(b)) / K for a, b in zip(found[:some], truth(some))]))


if how == "ckdtree":
    from scipy.spatial import cKDTree
    (d, _), cost = timed(lambda: cKDTree(X).query(Q, K, workers=THREADS))
    report(cost, {"distances": float(d.sum())})
elif how == "sklearn":
    from sklearn.neighbors import NearestNeighbors
    (d, _), cost = timed(lambda: NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=THREADS).fit(X).kneighbors(Q))
    report(cost, {"distances": float(d.sum())})
else:
    import faiss
    faiss.omp_set_num_threads(THREADS)
    x, q = X.astype(np.float32), Q.astype(np.float32)
    if how == "flat":
        def work():
            index = faiss.IndexFlatL2(x.shape[1])
            index.add(x)
            return index.search(q, K)
        (d, _), cost = timed(work)
        report(cost, {"distances": float(np.sqrt(np.maximum(d.astype(float), 0)).sum())})
    else:
        # The least effort with which 0.95 are found is looked for before the clock runs: theirs is not measured on the way.
        def built():
            if how == "hnsw":
                index = faiss.IndexHNSWFlat(x.shape[1], 32)
            else:
                index = faiss.IndexIVFFlat(faiss.IndexFlatL2(x.shape[1]), x.shape[1], 1024)
                index.train(x[:100_000])
            index.add(x)
            return index
        index, building = timed(built)
        for effort in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
            if how == "hnsw":
                index.hnsw.efSearch = max(effort, K)
            else:
                index.nprobe = effort
            (_, found), cost = timed(lambda: index.search(q, K))
            if (share := recall(found)) >= RECALL:
                break
        report({k: building[k] + cost[k] for k in cost}, {"recall": share},
               note=f"{'efSearch' if how == 'hnsw' else 'nprobe'} {effort}, {building['cpu']:.1f} s of processor to build")
