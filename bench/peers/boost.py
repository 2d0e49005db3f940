"""Gradient boosting, 100 rounds of depth 6, step 0.1, 255 bins: LightGBM, xgboost, scikit-learn; or what they predict.

boost.py DATA THREADS fit|predict|categories NAME lightgbm|xgboost|sklearn"""
import numpy as np
from common import THREADS, VARIANT, load, report, timed

work, name, library = VARIANT
X, y, Xt, yt = (load(name + "_" + each) for each in ("X", "y", "Xt", "yt"))
fit_options = {}
if library == "lightgbm":
    from lightgbm import LGBMClassifier
    make = LGBMClassifier(n_estimators=100, max_depth=6, num_leaves=64, learning_rate=0.1, max_bin=255,
                          n_jobs=THREADS, verbose=-1, random_state=0)
    if work == "categories":
        import pandas as pd
        frame = lambda values: pd.DataFrame({str(j): values[:, j].astype(int) if j < 10 else values[:, j]
                                             for j in range(values.shape[1])})
        X, Xt = frame(X), frame(Xt)
        fit_options["categorical_feature"] = [str(j) for j in range(10)]
elif library == "xgboost":
    from xgboost import XGBClassifier
    make = XGBClassifier(n_estimators=100, max_depth=6, learning_rate=0.1, max_bin=255, tree_method="hist",
                         n_jobs=THREADS, random_state=0)
else:
    from sklearn.ensemble import HistGradientBoostingClassifier
    make = HistGradientBoostingClassifier(max_iter=100, max_depth=6, max_leaf_nodes=64, learning_rate=0.1, max_bins=255,
                                          early_stopping=False, random_state=0)

if work == "predict":
    model = make.fit(X, y)
    said, cost = timed(lambda: model.predict_proba(X))
    report(cost, {"mean_probability": float(said[:, 1].mean())})
else:
    model, cost = timed(lambda: make.fit(X, y, **fit_options))
    p = model.predict_proba(Xt)[np.arange(len(yt)), yt]
    report(cost, {"log_loss": float(-np.log(np.maximum(p, 1e-300)).mean())})
