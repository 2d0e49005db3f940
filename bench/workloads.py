"""The workloads: data, peers, the quality to match, the target. This is the one place that describes them.

A command may hold {data} (the folder with the data), {threads}, {python} (of bench/.venv), {here} (this folder),
{lemma} and {lemma_bench} (the built programs).
"""
from dataclasses import dataclass, field
from typing import Optional

# Which environment a program needs so that its OpenBLAS uses the right kernels: a key of about.py's "blas".
NUMPY = ("numpy", "scipy")
R = ("R",)


@dataclass(frozen=True)
class Peer:
    name: str
    command: tuple
    blas: tuple = ()
    note: str = ""  # printed under the table


@dataclass(frozen=True)
class Expected:
    """A value that an answer must reach: within tolerance of it, or not worse than it by more than that."""
    value: float
    tolerance: float  # absolute: half a unit of the last digit that is known, or what the method allows
    rule: str = "equal"  # equal | at_least | at_most | ratio: not known; the first peer's value, within this share of it

    def holds(self, got):
        if self.rule == "at_least":
            return got >= self.value - self.tolerance
        if self.rule == "at_most":
            return got <= self.value + self.tolerance
        return abs(got - self.value) <= self.tolerance


@dataclass(frozen=True)
class Target:
    """Lemma `ratio` times as fast as the fastest of `against`; under `seconds`; memory under `memory` x its table."""
    against: tuple = ()
    ratio: Optional[float] = None
    seconds: Optional[float] = None
    memory: Optional[float] = None  # peak memory / the table_mb that Lemma reports


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    peers: tuple
    data: str = ""  # the name gen.py knows it by
    files: tuple = ()
    quality: dict = field(default_factory=dict)  # name -> Expected, for the data at full size
    target: Target = Target()
    group: str = "base"  # of bench/setup
    # A whole process is timed from outside, `runs` of them a measurement, instead of the work it reports.
    whole_process: bool = False
    runs: int = 1
    lemma: tuple = ()  # empty: lemma_bench NAME DATA --threads N
    results: dict = field(default_factory=dict)  # of the tool's own JSON: name of a quality -> path below "results"


def python(script, *variant):
    return ("{python}", "{here}/peers/" + script, "{data}", "{threads}", *variant)


def r(script, *variant):
    return ("Rscript", "--vanilla", "{here}/peers/" + script, "{data}", "{threads}", *variant)


def lemma(workload):
    """Lemma again, on something to be compared with."""
    return ("{lemma_bench}", workload, "{data}", "--threads", "{threads}")


def onedal(script, *variant):
    """The same script with oneDAL under the names of scikit-learn: the fastest CPU build of many of its methods."""
    return Peer("oneDAL", python(script, *variant, "onedal"), NUMPY, note="scikit-learn-intelex")


FOREST_FILES = tuple("forest_" + each + ".npy" for each in ("X", "y", "Xt", "yt"))
GBM_FILES = tuple("gbm_" + each + ".npy" for each in ("X", "y", "Xt", "yt"))


MLP_FILES = tuple("mlp_" + each + ".npy" for each in ("X", "y", "Xt", "yt"))


def network_peers(work):
    """PyTorch is Debian's, under the system's Python."""
    script = "{here}/peers/networks.py"
    return (*(Peer("sklearn " + dtype, python("networks.py", work, "sklearn", dtype), NUMPY)
              for dtype in ("float32", "float64")),
            Peer("PyTorch", ("/usr/bin/python3", script, "{data}", "{threads}", work, "torch", "float32"), (),
                 note="float32"))


def boosting_peers(work, data):
    return tuple(Peer(name, python("boost.py", work, data, library), NUMPY)
                 for name, library in (("LightGBM", "lightgbm"), ("xgboost", "xgboost"), ("sklearn", "sklearn")))


def kmeans_peers(data, iterations):
    return (*(Peer("sklearn " + a, python("kmeans.py", data, a, str(iterations)), NUMPY) for a in ("lloyd", "elkan")),
            onedal("kmeans.py", data, "lloyd", str(iterations)),
            Peer("faiss", python("kmeans.py", data, "faiss", str(iterations)), NUMPY, note="float32: it has no other"))


def lasso_workload(name, title, ratio, sklearn, glmnet, mean_objective):
    """glmnet as (type, thresh): thresholds tightened until its objective is as good; its default misses it."""
    peers = tuple(Peer("sklearn", python("lasso.py", name, ratio, tol), NUMPY, note=f"lasso_path, tol = {tol}")
                  for tol in sklearn)
    peers += tuple(Peer("glmnet " + kind, r("lasso.R", name, ratio, kind, thresh), R, note=f"thresh = {thresh}")
                   for kind, thresh in glmnet)
    return Workload(name=name, title=title, data=name, files=(name + "_X.npy", name + "_y.npy"), group="linear",
                    quality={"mean_objective": Expected(mean_objective, 5e-8, "at_most")}, peers=peers,
                    target=Target(against=tuple(p.name for p in peers), ratio=1.5))


def sparse_svm_workload(name, title, loss, objective, gap):
    """liblinear stops by its own rule (tol = 0.1, its default outside scikit-learn); Lemma at a gap no larger than its."""
    return Workload(name=name, title=title, data="sparse_logit", group="linear",
                    files=("sparse_logit.npz", "sparse_logit_y.npy", "sparse_logit.svm"),
                    quality={"objective": Expected(objective, 0, "at_most"), "gap": Expected(gap, 0, "at_most")},
                    peers=(Peer("liblinear", python("linear_svm.py", loss, "0.1"), NUMPY,
                                note="scikit-learn's LinearSVC, dual, tol = 0.1"),),
                    target=Target(against=("liblinear",), ratio=1.5))


def svm_workloads(name, shape, objective, gap, right):
    """Fit and prediction; the gap is that of libsvm's model, computed by the same formula."""
    text = "without reading and writing text"
    rows = tuple(name + end for end in ("_X.npy", "_y.npy", "_Xt.npy", "_yt.npy", ".svm", ".t.svm"))
    return (
        Workload(
            name=name, title=f"SVM, Gaussian kernel, C = 1, gamma = 1/d, {shape}", data=name, files=rows, group="kernel",
            quality={"objective": Expected(objective, 5e-3, "at_most"), "gap": Expected(gap, 0.02 * gap, "at_most")},
            peers=(Peer("libsvm", python("svm.py", name, "fit", "libsvm"), NUMPY, note=f"svm-train, one thread, {text}"),
                   Peer("sklearn SVC", python("svm.py", name, "fit", "sklearn"), NUMPY, note="libsvm on dense rows"),
                   onedal("svm.py", name, "fit", "sklearn")),
            target=Target(against=("libsvm",), ratio=4.0)),
        Workload(
            name=name + "_predict", title=f"prediction of 20,000 rows by that machine, {shape}", data=name, files=rows,
            group="kernel", quality={"right": Expected(right, 1e-4, "at_least")},
            peers=(Peer("libsvm", python("svm.py", name, "predict", "libsvm"), NUMPY,
                        note=f"svm-predict, one thread, {text}"),),
            target=Target(against=("libsvm",), ratio=15.0)),
    )


def whole_command(name, title, method, file, tool, quality, results, sklearn, r_too=True):
    """From a file to a model file, whole processes: reading, the fit, and writing what was learned."""
    read = ("pandas", "polars") if file.endswith(".csv") else ("numpy",)
    peers = tuple(Peer(f"{how}+{package}", python("whole.py", method, file, how, package), NUMPY)
                  for package in sklearn for how in read)
    if r_too:
        peers += (Peer("R fread" if file.endswith(".csv") else "R", r("whole.R", method, file), R),)
    data = file.rsplit(".", 1)[0]
    # After so few steps k-means says that its certificate does not hold, and ends with 1: that is no failure here.
    done = ("sh", "-c", '"$0" "$@" || [ $? = 1 ]')
    return Workload(name=name, title=title, data=data, files=(file,), group="files", whole_process=True,
                    lemma=(*done, "{lemma}", "fit", *tool, "-o", "model.lemma", "--json", "--threads", "{threads}"),
                    quality=quality, results=results, peers=peers,
                    target=Target(against=tuple(p.name for p in peers), ratio=2.0))


BOTH = ("sklearn", "onedal")

WORKLOADS = (
    whole_command("file_ols_csv", "least squares from a CSV file of 5e5 x 21 to a model file", "ols", "file_ols.csv",
                  ("ols", "{data}/file_ols.csv", "y ~ ."), {"rss": Expected(0, 1e-6, "ratio")}, {"rss": "rss"}, BOTH),
    whole_command("file_ols_npy", "least squares from a .npy of 1e6 x 101 to a model file", "ols", "file_ols.npy",
                  ("ols", "{data}/file_ols.npy", "x101 ~ ."), {"rss": Expected(0, 1e-6, "ratio")}, {"rss": "rss"}, BOTH,
                  r_too=False),
    *(whole_command("file_logistic_" + kind, f"logistic regression, C = 1, from {what} of 5e5 x 21 to a model file", "logistic",
                    "file_logistic." + kind,
                    ("logistic", "{data}/file_logistic." + kind, formula, "--standardize", "false"),
                    {"objective": Expected(0, 1e-4, "ratio")}, {"objective": "objective"}, BOTH, r_too=kind == "csv")
      for kind, what, formula in (("csv", "a CSV file", "y ~ ."), ("npy", "a .npy", "factor(x21) ~ ."))),
    *(whole_command("file_kmeans_" + kind, f"20 steps of k-means, k = 50, from {what} of 5e5 x 20 to a model file", "kmeans",
                    "file_kmeans." + kind,
                    ("kmeans", "{data}/file_kmeans." + kind, "~ .", "--start", "{data}/file_kmeans_start.csv",
                     "--max_iterations", "20"),
                    {"inertia": Expected(0, 1e-4, "ratio")}, {"inertia": "total_within"}, BOTH, r_too=False)
      for kind, what in (("csv", "a CSV file"), ("npy", "a .npy"))),
    *(whole_command("file_svm_" + kind, f"SVM, Gaussian kernel, C = 1, gamma = 1/20, from {what} of 2e4 x 21 to a model file",
                    "svm", "file_svm." + kind,
                    ("svm", "{data}/file_svm." + kind, formula, "--kernel", "rbf", "--kernel.gamma", "0.05"),
                    {"support": Expected(0, 0.01, "ratio")}, {"support": "n_support"}, BOTH, r_too=False)
      for kind, what, formula in (("csv", "a CSV file", "y ~ ."), ("npy", "a .npy", "factor(x21) ~ ."))),
    *(whole_command("file_forest_" + kind, f"a random forest of 100 trees from {what} of 1e5 x 31 to a model file", "forest",
                    "file_forest." + kind, ("forest", "{data}/file_forest." + kind, formula, "--trees", "100"),
                    {"error": Expected(0, 0.03, "ratio")}, {"error": "oob_error"}, BOTH, r_too=False)
      for kind, what, formula in (("csv", "a CSV file", "y ~ ."), ("npy", "a .npy", "factor(x31) ~ ."))),
    Workload(
        name="csv",
        title="read a CSV of 1e6 rows x 20 mixed columns, 1 % missing",
        data="csv",
        files=("mixed.csv",),
        quality={"rows": Expected(1_000_000, 0), "missing": Expected(199_548, 0), "sum_x0": Expected(-8.07618, 5e-6)},
        peers=(
            Peer("R fread", r("read_csv.R"), R),
            Peer("polars", python("read_csv.py", "polars"), NUMPY, note="types from the first rows, its default"),
            Peer("pandas arrow", python("read_csv.py", "pyarrow"), NUMPY),
            Peer("pandas c", python("read_csv.py", "c"), NUMPY),
        ),
        target=Target(against=("R fread",), ratio=1.0, memory=2.0),
    ),
    Workload(
        name="ols",
        title="least squares with intercept, 1e6 x 100",
        data="linreg",
        files=("linreg_X.npy", "linreg_y.npy"),
        quality={"rss": Expected(4001804.389, 1e-3)},
        peers=(
            Peer("R .lm.fit", r("ols.R"), R, note="Householder QR on cbind(1, X), made before the clock starts"),
            Peer("sklearn", python("ols.py", "sklearn"), NUMPY, note="SVD"),
            onedal("ols.py", "sklearn"),
            Peer("numpy X'X", python("ols.py", "normal"), NUMPY,
                 note="normal equations + Cholesky: not backward stable, for information"),
        ),
        target=Target(against=("R .lm.fit",), ratio=5.0),
    ),
    Workload(
        name="ridge",
        title="ridge regression with intercept, lambda = 1, 1e6 x 100",
        data="linreg",
        files=("linreg_X.npy", "linreg_y.npy"),
        quality={"rss": Expected(4001804.389, 1e-3)},
        peers=(
            Peer("numpy X'X", python("ridge.py", "normal"), NUMPY,
                 note="normal equations + Cholesky: not backward stable; one pass over the data bounds all"),
            Peer("sklearn", python("ridge.py", "sklearn"), NUMPY),
            onedal("ridge.py", "sklearn"),
        ),
        target=Target(against=("numpy X'X",), ratio=0.9),
    ),
    lasso_workload("lasso_tall", "lasso path of 100 lambdas, 5000 x 2000, down to 1e-3 of the largest", "1e-3",
                   sklearn=("1e-4",), glmnet=(("covariance", "1e-9"),), mean_objective=0.2114948),
    lasso_workload("lasso_wide", "lasso path of 100 lambdas, 500 x 20000, down to 1e-2 of the largest", "1e-2",
                   sklearn=("1e-4",), glmnet=(("naive", "1e-10"),), mean_objective=0.2287872),
    Workload(
        name="logit",
        title="logistic regression with intercept, C = 1, 5e5 x 50",
        data="logit",
        files=("logit_X.npy", "logit_y.npy"),
        quality={"objective": Expected(201174.214, 0.01, "at_most")},
        peers=(
            Peer("sklearn lbfgs", python("logistic.py", "logit", "lbfgs"), NUMPY),
            Peer("sklearn newton", python("logistic.py", "logit", "newton-cholesky"), NUMPY),
            onedal("logistic.py", "logit", "lbfgs"),
            Peer("glmnet", r("logistic.R"), R, note="one lambda of 1/n, thresh 1e-9: IRLS with coordinate descent"),
            Peer("R glm.fit", r("glm.R", "objective"), R, note="no penalty: it changes the objective by 1e-4 only"),
        ),
        group="linear",
        target=Target(against=("sklearn lbfgs", "sklearn newton", "glmnet", "R glm.fit"), ratio=3.0),
    ),
    Workload(
        name="glm",
        title="binomial glm with standard errors, 5e5 x 50",
        data="logit",
        files=("logit_X.npy", "logit_y.npy"),
        quality={"deviance": Expected(402343.418, 1e-3)},
        peers=(Peer("R glm.fit", r("glm.R", "deviance"), R,
                    note="on cbind(1, X), made before; its standard errors are those of the last but one step"),),
        group="linear",
    ),
    Workload(
        name="glm_scan",
        title="binomial glm, 1e6 x 50, streamed from a file by --memory 64M; the others show what rows and memory cost",
        data="glm_scan",
        files=("glm_scan.npy",),
        quality={"proved": Expected(1, 0)},  # its deviance, 713697.990, is not that of fewer rows
        peers=(
            Peer("in memory", lemma("glm_scan_memory"), note="the table and the matrix made of it"),
            Peer("half the rows", lemma("glm_scan_half"), note="at least 0.45 of the time: linear in the rows"),
            Peer("a quarter", lemma("glm_scan_quarter")),
        ),
        group="linear",
        target=Target(against=("half the rows",), ratio=0.45, memory=0.25),
    ),
    Workload(
        name="sparse_logit_l2",
        title="sparse logistic regression, l2, C = 1, no intercept, 2e5 x 1e5, 50 per row",
        data="sparse_logit",
        files=("sparse_logit.npz", "sparse_logit_y.npy", "sparse_logit.svm"),
        quality={"objective": Expected(107301.27, 0.005, "at_most")},
        peers=(
            Peer("liblinear dual", python("logistic.py", "sparse_logit_l2", "dual"), NUMPY),
            Peer("liblinear primal", python("logistic.py", "sparse_logit_l2", "primal"), NUMPY),
        ),
        group="linear",
        target=Target(against=("liblinear dual", "liblinear primal"), ratio=1.5),
    ),
    Workload(
        name="sparse_logit_l1",
        title="sparse logistic regression, l1, C = 1, no intercept, 2e5 x 1e5, 50 per row",
        data="sparse_logit",
        files=("sparse_logit.npz", "sparse_logit_y.npy", "sparse_logit.svm"),
        quality={"objective": Expected(109309.5, 0.5, "at_most")},
        peers=(Peer("liblinear l1", python("logistic.py", "sparse_logit_l1", "newglmnet"), NUMPY, note="newGLMNET"),),
        group="linear",
        target=Target(against=("liblinear l1",), ratio=1.5),
    ),
    sparse_svm_workload("sparse_svm_hinge", "sparse linear SVM, hinge, C = 1, bias penalised, 2e5 x 1e5, 50 per row",
                        "hinge", objective=121_490, gap=2.6e-4),
    sparse_svm_workload("sparse_svm_squared",
                        "sparse linear SVM, squared hinge, C = 1, bias penalised, 2e5 x 1e5, 50 per row",
                        "squared_hinge", objective=117_520, gap=5.3e-5),
    *svm_workloads("svm_a", "2e4 x 50", -6273.786, 7.34e-5, 0.8587),
    *svm_workloads("svm_b", "6e4 x 8", -18009.24, 1.715e-5, 0.8707),
    Workload(
        name="svm_scaling",
        title="SVM by rows: seconds for 1e3, 3e3, 1e4, 3e4 (and 1e5) x 8",
        data="svm_scaling",
        files=("svm_scaling_X.npy", "svm_scaling_y.npy", "svm_scaling.svm"),
        peers=(Peer("libsvm", python("svm.py", "svm_scaling", "1000", "3000", "10000", "30000"), NUMPY,
                    note="svm-train up to 3e4 rows; its time is the sum of those"),),
        group="kernel",
    ),
    Workload(
        name="lad",
        title="least absolute deviations with intercept, 1e5 x 20",
        data="lad",
        files=("lad_X.npy", "lad_y.npy"),
        quality={"sum": Expected(139438.59387, 1e-4, "at_most")},
        peers=(
            Peer("R fnb", (*r("lad.R"), "fnb"), R, note="quantreg's rq.fit.fnb on cbind(1, X), made before the clock starts"),
            Peer("R pfn", (*r("lad.R"), "pfn"), R, note="the same after preprocessing, for information"),
        ),
        target=Target(against=("R fnb",), ratio=1.0),
        group="linear",
    ),
    Workload(
        name="pca_full",
        title="all principal components, 2e5 x 500",
        data="pca_full",
        files=("pca_full_X.npy",),
        quality={"top10": Expected(16944.964, 1e-3), "all": Expected(30560.34, 5e-3)},
        peers=(
            Peer("numpy X'X", python("pca.py", "pca_full", "gram"), NUMPY,
                 note="covariance from X'X and the means, then eigh: no centred copy of X"),
            Peer("numpy cov", python("pca.py", "pca_full", "cov"), NUMPY, note="np.cov, then eigh"),
            Peer("sklearn cov", python("pca.py", "pca_full", "covariance_eigh"), NUMPY),
            onedal("pca.py", "pca_full", "covariance_eigh"),
            Peer("sklearn svd", python("pca.py", "pca_full", "full"), NUMPY),
        ),
        target=Target(against=("numpy X'X", "numpy cov"), ratio=1.0),
    ),
    Workload(
        name="pca_top",
        title="first 10 principal components, randomised, 2e4 x 5000",
        data="pca_top",
        files=("pca_top_X.npy",),
        # Two power iterations give 149203, which is not good enough.
        quality={"top10": Expected(149295.5, 0.1, "at_least")},
        peers=(Peer("sklearn rand", python("pca.py", "pca_top", "randomized"), NUMPY, note="iterated_power='auto'"),),
        target=Target(against=("sklearn rand",), ratio=1.5),
    ),
    Workload(
        name="isomap",
        title="Isomap of a swiss roll, 3000 rows, 10 neighbours",
        data="manifold",
        files=("manifold_X.npy",),
        quality={"first eigenvalue": Expected(0, 1e-6, "ratio")},
        peers=(Peer("sklearn", python("manifold.py", "isomap"), NUMPY),),
        target=Target(against=("sklearn",), ratio=5.0),
    ),
    Workload(
        name="lle",
        title="locally linear embedding of a swiss roll, 5000 rows, 12 neighbours",
        data="manifold",
        files=("manifold_X.npy",),
        quality={"cost": Expected(0, 1e-2, "ratio")},
        peers=(Peer("sklearn", python("manifold.py", "lle"), NUMPY),),
        target=Target(against=("sklearn",), ratio=1.5),
    ),
    Workload(
        name="smacof",
        title="metric scaling of a swiss roll, 2000 rows, one start",
        data="manifold",
        files=("manifold_X.npy",),
        quality={"raw stress": Expected(0, 0.01, "ratio")},
        peers=(Peer("sklearn", python("manifold.py", "smacof"), NUMPY),),
        target=Target(against=("sklearn",), ratio=5.0),
    ),
    Workload(
        name="kernel_pca",
        title="first 10 kernel principal components, 5000 rows",
        data="manifold",
        files=("manifold_X.npy",),
        quality={"sum of eigenvalues": Expected(0, 1e-6, "ratio")},
        peers=(Peer("sklearn", python("manifold.py", "kernel_pca"), NUMPY),),
        target=Target(against=("sklearn",), ratio=3.0),
    ),
    Workload(
        name="kmeans_a",
        title="k-means 1e6 x 20, k = 50, 20 iterations from given centres",
        data="kmeans_a",
        files=("kmeans_a_X.npy", "kmeans_a_init.npy"),
        quality={"inertia": Expected(24899143.7, 0.1)},
        peers=kmeans_peers("kmeans_a", 20),
        target=Target(against=("sklearn lloyd", "sklearn elkan", "oneDAL"), ratio=2.0),
        group="cluster",
    ),
    Workload(
        name="kmedoids",
        title="20 medoids of 1e4 x 10 from random rows, distances among the time",
        data="kmedoids",
        files=("kmedoids_X.npy",),
        quality={"total": Expected(0, 0.01, "ratio")},
        peers=(Peer("fasterpam", python("clusters.py", "kmedoids"), NUMPY, note="the kmedoids package"),),
        target=Target(against=("fasterpam",), ratio=1.0),
        group="cluster",
    ),
    Workload(
        name="knn_low",
        title="10 nearest of 1e6 x 3 for 1e5 queries, the tree among the time",
        data="knn_low",
        files=("knn_low_X.npy", "knn_low_Q.npy"),
        quality={"distances": Expected(0, 1e-9, "ratio")},
        peers=(Peer("scipy cKDTree", python("neighbors.py", "knn_low", "ckdtree"), NUMPY),),
        target=Target(against=("scipy cKDTree",), ratio=1.5),
        group="neighbors",
    ),
    Workload(
        name="knn_mid",
        title="10 nearest of 1e5 x 50 for 1e4 queries, all distances",
        data="knn_mid",
        files=("knn_mid_X.npy", "knn_mid_Q.npy"),
        quality={"distances": Expected(0, 1e-5, "ratio")},
        peers=(Peer("faiss", python("neighbors.py", "knn_mid", "flat"), NUMPY, note="float32"),
               Peer("sklearn", python("neighbors.py", "knn_mid", "sklearn"), NUMPY)),
        target=Target(against=("faiss",), ratio=1.2),
        group="neighbors",
    ),
    Workload(
        name="knn_most",
        title="10 nearest of 1e6 x 100 for 1e4 queries, recall 0.95, the structure among the time",
        data="knn_most",
        files=("knn_most_X.npy", "knn_most_Q.npy"),
        quality={"recall": Expected(0.95, 0.02, "at_least")},
        peers=(Peer("faiss HNSW", python("neighbors.py", "knn_most", "hnsw"), NUMPY, note="32 links, float32"),
               Peer("faiss IVF", python("neighbors.py", "knn_most", "ivf"), NUMPY, note="1024 lists, float32")),
        group="neighbors",
    ),
    Workload(
        name="tokens",
        title="100 MB of texts as counts of their words, the vocabulary learned",
        data="tokens",
        files=("tokens.csv",),
        quality={"words": Expected(0, 1e-9, "ratio"), "entries": Expected(0, 1e-9, "ratio")},
        peers=(Peer("sklearn", python("tokens.py"), NUMPY, note="CountVectorizer(min_df=2)"),),
        target=Target(against=("sklearn",), ratio=4.0),
        group="neighbors",
    ),
    Workload(
        name="naive_bayes_sparse",
        title="multinomial naive Bayes, 2e5 x 1e5, 50 per row, and what it says of the rows",
        data="sparse_logit",
        files=("sparse_logit.svm", "sparse_logit.npz", "sparse_logit_y.npy"),
        quality={"errors": Expected(0, 1e-9, "ratio")},
        peers=(Peer("sklearn", python("naive_bayes.py"), NUMPY),),
        target=Target(against=("sklearn",), ratio=2.0),
        group="neighbors",
    ),
    Workload(
        name="dbscan",
        title="DBSCAN, 1e6 x 3, radius 0.1, 5 rows in reach",
        data="dbscan",
        files=("dbscan_X.npy",),
        quality={"clusters": Expected(0, 1e-9, "ratio"), "noise": Expected(0, 1e-9, "ratio")},
        peers=(Peer("sklearn", python("clusters.py", "dbscan"), NUMPY), onedal("clusters.py", "dbscan")),
        target=Target(against=("sklearn", "oneDAL"), ratio=3.0),
        group="cluster",
    ),
    Workload(
        name="hdbscan",
        title="HDBSCAN, 5e4 x 10, clusters of at least 20",
        data="hdbscan",
        files=("hdbscan_X.npy",),
        quality={"clusters": Expected(0, 0.01, "ratio")},
        peers=(Peer("sklearn", python("clusters.py", "hdbscan"), NUMPY),),
        target=Target(against=("sklearn",), ratio=3.0),
        group="cluster",
    ),
    Workload(
        name="spectral",
        title="4 rings by spectral clustering, 10 neighbours, n = 1e4",
        data="spectral",
        files=("spectral_X.npy", "spectral_y.npy"),
        quality={"adjusted_rand": Expected(1.0, 0.01, "at_least")},
        peers=(Peer("sklearn lobpcg", python("clusters.py", "spectral"), NUMPY),),
        target=Target(against=("sklearn lobpcg",), ratio=3.0),
        group="cluster",
    ),
    Workload(
        name="gmm",
        title="mixture of 10 Gaussians, full covariances, 2e5 x 20, 20 iterations from given means",
        data="gmm",
        files=("gmm_X.npy", "gmm_init.npy"),
        quality={"log_likelihood": Expected(0, 1e-6, "ratio")},
        peers=(Peer("sklearn", python("gmm.py"), NUMPY),),
        target=Target(against=("sklearn",), ratio=4.0),
    ),
    Workload(
        name="kde",
        title="kernel density, 1e5 rows in the plane, 1e4 places, relative error 1e-4",
        data="kde",
        files=("kde_X.npy", "kde_Q.npy"),
        quality={"log_likelihood": Expected(0, 1e-4, "ratio")},
        peers=(Peer("sklearn", python("kde.py"), NUMPY),
               Peer("mlpack", python("kde.py", "mlpack"), NUMPY, note="dual trees; twice as fast is asked")),
        target=Target(against=("sklearn",), ratio=4.0),
        group="cluster",
    ),
    Workload(
        name="average_linkage",
        title="average linkage of 1e4 x 10, distances among the time",
        data="hclust",
        files=("hclust_X.npy",),
        quality={"heights": Expected(0, 1e-9, "ratio")},
        peers=(Peer("fastcluster", python("clusters.py", "average_linkage"), NUMPY),),
        target=Target(against=("fastcluster",), ratio=1.5),
        group="cluster",
    ),
    Workload(
        name="single_linkage",
        title="single linkage of 2e4 x 10, no distances kept",
        data="hclust",
        files=("hclust_X.npy",),
        quality={"heights": Expected(0, 1e-9, "ratio")},
        peers=(Peer("fastcluster", python("clusters.py", "single_linkage"), NUMPY, note="linkage_vector"),),
        target=Target(against=("fastcluster",), ratio=2.0),
        group="cluster",
    ),
    Workload(
        name="kmeans_b",
        title="k-means 1e5 x 128, k = 1000, 10 iterations from given centres",
        data="kmeans_b",
        files=("kmeans_b_X.npy", "kmeans_b_init.npy"),
        # 6.0757e7 when a cluster that loses all its rows is left empty.
        quality={"inertia": Expected(6.0553e7, 1e3, "at_most")},
        peers=kmeans_peers("kmeans_b", 10),
        target=Target(against=("sklearn lloyd", "sklearn elkan", "oneDAL"), ratio=2.0),
        group="cluster",
    ),
    Workload(
        name="gp",
        title="Gaussian process, given hyperparameters, 4000 x 5, and 1000 predictions with sd",
        data="gp",
        files=("gp_X.npy", "gp_y.npy", "gp_Xt.npy", "gp_yt.npy"),
        quality={"lml": Expected(1028.741, 1e-3), "rmse": Expected(0.13237, 1e-5), "mean_sd": Expected(0.11760, 1e-5)},
        peers=(
            Peer("scipy Cholesky", python("gp.py", "cholesky"), NUMPY, note="written by hand"),
            Peer("sklearn", python("gp.py", "sklearn"), NUMPY),
        ),
        group="kernel",
        target=Target(against=("scipy Cholesky", "sklearn"), ratio=1.5),
    ),
    Workload(
        name="krr",
        title="kernel ridge regression, 5000 x 10, gamma = lambda = 0.1",
        data="krr",
        files=("krr_X.npy", "krr_y.npy", "krr_Xt.npy", "krr_yt.npy"),
        quality={"rss": Expected(224.000102, 1e-5), "rmse": Expected(0.3948117, 1e-6)},
        peers=(Peer("sklearn", python("krr.py"), NUMPY),),
        group="kernel",
        target=Target(against=("sklearn",), ratio=1.5),
    ),
    Workload(
        name="tree",
        title="one tree grown out, 2e5 x 30, two classes: every leaf pure",
        data="cart",
        files=("cart_X.npy", "cart_y.npy", "cart_Xt.npy", "cart_yt.npy"),
        # Trees grown out differ by what they do with equal gains; what counts is that they err alike on new rows.
        quality={"test_error": Expected(0, 0.02, "ratio")},
        peers=(Peer("sklearn", python("tree.py"), NUMPY),),
        target=Target(against=("sklearn",), ratio=4.0),
    ),
    Workload(
        name="mlp",
        title="network 784-256-10 of relu, 60,000 rows, one epoch of Adam by batches of 128",
        data="mlp",
        files=MLP_FILES,
        # Others begin with other weights and shuffle otherwise; what counts is that they err alike on new rows.
        quality={"test_error": Expected(0, 0.5, "ratio")},
        peers=network_peers("fit"),
        group="network",
        target=Target(against=("sklearn float32", "PyTorch"), ratio=1.5),
    ),
    Workload(
        name="mlp_predict",
        title="what that network says of its 60,000 rows",
        data="mlp",
        files=MLP_FILES,
        quality={"largest": Expected(0, 0.1, "ratio")},
        peers=network_peers("predict")[:2],
        group="network",
        target=Target(against=("sklearn float32", "sklearn float64"), ratio=2.0),
    ),
    Workload(
        name="cnn",
        title="conv(8, 3x3) pool conv(16, 3x3) pool dense(64), 10,000 images of 28 x 28, 3 epochs of Adam by batches of 128",
        data="mlp",
        files=MLP_FILES,
        # After so few steps the error hangs on the start: Lemma's was 0.32 to 0.53 with four seeds.
        quality={"test_error": Expected(0, 1.0, "ratio")},
        peers=network_peers("cnn")[2:],
        group="network",
        target=Target(against=("PyTorch",), ratio=1.0),
    ),
    Workload(
        name="forest",
        title="random forest, 100 trees grown out, 1e5 x 30, two classes",
        data="forest",
        files=FOREST_FILES,
        quality={"test_error": Expected(0, 0.02, "ratio")},
        peers=(
            Peer("sklearn", python("forest.py", "forest"), NUMPY),
            onedal("forest.py", "forest"),
            Peer("xgboost", python("forest.py", "xgboost"), NUMPY, note="its forest mode: binned, rows drawn without replacement"),
            Peer("ranger", r("forest.R"), R),
        ),
        group="tree",
        target=Target(against=("sklearn", "xgboost", "ranger"), ratio=2.0),
    ),
    Workload(
        name="extra_trees",
        title="extra trees, 100 grown out, 1e5 x 30, two classes",
        data="forest",
        files=FOREST_FILES,
        quality={"test_error": Expected(0, 0.02, "ratio")},
        peers=(Peer("sklearn", python("forest.py", "extra_trees"), NUMPY), onedal("forest.py", "extra_trees")),
        group="tree",
        target=Target(against=("sklearn",), ratio=1.5),
    ),
    Workload(
        name="adaboost",
        title="AdaBoost, 100 stumps, 1e5 x 30, two classes",
        data="forest",
        files=FOREST_FILES,
        quality={"test_error": Expected(0, 0.02, "ratio")},
        peers=(Peer("sklearn", python("adaboost.py"), NUMPY),),
        group="tree",
        target=Target(against=("sklearn",), ratio=20.0),
    ),
    Workload(
        name="boost",
        title="boosting, 100 rounds of depth 6, 1e6 x 28, two classes",
        data="gbm",
        files=GBM_FILES,
        quality={"log_loss": Expected(0, 0.01, "ratio")},
        peers=boosting_peers("fit", "gbm"),
        group="tree",
        target=Target(against=("LightGBM", "xgboost", "sklearn"), ratio=1.2),
    ),
    Workload(
        name="boost_categories",
        title="boosting, 100 rounds of depth 6, 2e5 rows, 10 columns of 1,000 categories and 5 of numbers",
        data="gbm_categories",
        files=tuple("gbm_categories_" + each + ".npy" for each in ("X", "y", "Xt", "yt")),
        quality={"log_loss": Expected(0, 0.02, "ratio")},
        peers=(Peer("LightGBM", python("boost.py", "categories", "gbm_categories", "lightgbm"), NUMPY),),
        group="tree",
    ),
    Workload(
        name="boost_predict",
        title="prediction of 1e6 x 28 by 100 boosted trees of depth 6",
        data="gbm",
        files=GBM_FILES,
        peers=boosting_peers("predict", "gbm"),
        group="tree",
        target=Target(against=("LightGBM",), ratio=1.0),
    ),
    Workload(
        name="forest_predict",
        title="prediction of 1e5 x 30 by 100 trees grown out",
        data="forest",
        files=FOREST_FILES,
        peers=(Peer("sklearn", python("forest.py", "forest", "predict"), NUMPY),),
        group="tree",
        target=Target(against=("sklearn",), ratio=3.0),
    ),
    Workload(
        name="tree_scaling",
        title="one tree by rows: processor seconds for 1e4, 1e5, 1e6, 1e7 x 4",
        data="tree_scaling",
        files=("tree_scaling_X.npy", "tree_scaling_y.npy"),
        peers=(),
        group="tree",
    ),
    Workload(
        name="choose_svm",
        title="a grid of 50 points, 10 folds each, for an SVM on spam: from the file to the choice",
        whole_process=True,
        lemma=("{lemma}", "tune", "scale | svm", "{here}/../data/spam.csv", "type ~ .", "--grid", "C=0.1:1000:10", "--grid",
               "kernel.gamma=0.0001:1:5", "--folds", "10", "--no-ledger", "--quiet", "--threads", "{threads}"),
        peers=(Peer("sklearn", python("choose_svm.py"), NUMPY, note="GridSearchCV, as many jobs as threads"),
               onedal("choose_svm.py")),
        target=Target(against=("sklearn",), ratio=3.0),
    ),
    Workload(
        name="auc",
        title="area under the ROC curve of 1e7 scores, with its interval",
        data="scores",
        files=("scores_s.npy", "scores_y.npy"),
        quality={"auc": Expected(0, 1e-9, "ratio")},
        peers=(Peer("sklearn", python("auc.py"), NUMPY, note="roc_auc_score, which has no interval"),),
        target=Target(seconds=1.5),
    ),
    Workload(
        name="forward_ols",
        title="10 columns by forward selection from 5,000 x 200, least squares: from the file to the choice",
        data="forward",
        files=("forward.csv",),
        whole_process=True,
        lemma=("{lemma}", "select", "{data}/forward.csv", "y ~ .", "--by", "forward", "--size", "10", "--no-ledger",
               "--quiet", "--threads", "{threads}"),
        peers=(Peer("R refits", r("forward.R"), R, note=".lm.fit of every candidate of every step"),),
        target=Target(against=("R refits",), ratio=20.0),
    ),
    Workload(
        name="bootstrap_glm",
        title="1,000 bootstrap refits of a logistic regression on pima: from the file to the intervals",
        group="judging",
        whole_process=True,
        lemma=("{lemma}", "bootstrap", "glm(family=binomial)", "{here}/../data/pima_train.csv", "type ~ .", "--samples",
               "1000", "--interval", "percentile", "--no-ledger", "--quiet", "--threads", "{threads}"),
        peers=(Peer("R boot", r("bootstrap_glm.R", "{here}/../data/pima_train.csv"), R),),
        target=Target(against=("R boot",), ratio=20.0),
    ),
    Workload(
        name="start",
        title="start-up: the version, or nothing at all",
        whole_process=True,
        runs=10,
        lemma=("{lemma}", "--version"),
        peers=(
            Peer("python", ("{python}", "-c", "pass")),
            Peer("R", ("Rscript", "--vanilla", "-e", "invisible(0)")),
        ),
        target=Target(seconds=0.010),
    ),
    Workload(
        name="start_lda",
        title="a whole process: linear discriminant analysis of iris",
        whole_process=True,
        runs=10,
        lemma=("{lemma}", "fit", "lda", "iris", "species ~ .", "--json"),
        # The first discriminant's share of the trace.
        quality={"trace1": Expected(0.9912126, 5e-8)},
        peers=(
            Peer("R MASS", ("Rscript", "--vanilla", "{here}/peers/lda.R"), R),
            Peer("sklearn", ("{python}", "{here}/peers/lda.py"), NUMPY),
        ),
        results={"trace1": "proportion_of_trace.0"},
        target=Target(seconds=0.050),
    ),
)
