"""Forests of 100 trees grown out: scikit-learn's random forest and extra trees, xgboost's forest mode; or what the first predicts."""
from common import THREADS, VARIANT, load, report, timed

X, y, Xt, yt = load("forest_X"), load("forest_y"), load("forest_Xt"), load("forest_yt")
if VARIANT[0] == "xgboost":
    from xgboost import XGBRFClassifier
    make = XGBRFClassifier(n_estimators=100, max_depth=0, colsample_bynode=5 / 30, subsample=0.632, min_child_weight=0,
                           reg_lambda=1e-9, n_jobs=THREADS, random_state=0)
else:
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    kind = {"forest": RandomForestClassifier, "extra_trees": ExtraTreesClassifier}[VARIANT[0]]
    make = kind(n_estimators=100, n_jobs=THREADS, random_state=0)
if "predict" in VARIANT:
    model = make.fit(X, y)
    said, cost = timed(lambda: model.predict_proba(X))
    report(cost, {"mean_probability": float(said[:, 1].mean())})
else:
    model, cost = timed(lambda: make.fit(X, y))
    report(cost, {"test_error": float((model.predict(Xt) != yt).mean())})
