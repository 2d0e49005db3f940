"""Multinomial naive Bayes of scikit-learn on sparse rows, and its predictions of them."""
import os

import scipy.sparse as sp
from common import DATA, load, report, timed
from sklearn.naive_bayes import MultinomialNB

X, y = sp.load_npz(os.path.join(DATA, "sparse_logit.npz")), load("sparse_logit_y")
said, cost = timed(lambda: MultinomialNB().fit(X, y).predict(X))
report(cost, {"errors": float((said != y).sum())})
