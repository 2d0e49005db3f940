"""A classification tree grown out: scikit-learn's, which uses one thread."""
from common import load, report, timed
from sklearn.tree import DecisionTreeClassifier

X, y, Xt, yt = load("cart_X"), load("cart_y"), load("cart_Xt"), load("cart_yt")
model, cost = timed(lambda: DecisionTreeClassifier(random_state=0).fit(X, y))
report(cost, {"test_error": float((model.predict(Xt) != yt).mean())}, note="%d leaves" % model.get_n_leaves())
