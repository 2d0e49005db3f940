"""AdaBoost of 100 stumps: scikit-learn's, which uses one thread."""
from common import load, report, timed
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

X, y, Xt, yt = load("forest_X"), load("forest_y"), load("forest_Xt"), load("forest_yt")
make = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=100, random_state=0)
model, cost = timed(lambda: make.fit(X, y))
report(cost, {"test_error": float((model.predict(Xt) != yt).mean())})
