"""Lloyd's iterations from given centres, a given number of them, with scikit-learn."""
import warnings

from common import VARIANT, load, report, timed
from sklearn.cluster import KMeans

data, algorithm, iterations = VARIANT
X, start = load(data + "_X"), load(data + "_init")
warnings.filterwarnings("ignore")  # that it has not converged after so few iterations
model = KMeans(len(start), init=start, n_init=1, max_iter=int(iterations), tol=0, algorithm=algorithm, copy_x=False)
_, cost = timed(lambda: model.fit(X))
report(cost, {"inertia": float(model.inertia_)}, note=f"{model.n_iter_} iterations")
