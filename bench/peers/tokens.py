"""Counts of words by scikit-learn's CountVectorizer, which knows words as Lemma does: two letters, digits or _ and more."""
import os

import pandas as pd
from common import DATA, report, timed
from sklearn.feature_extraction.text import CountVectorizer

texts = pd.read_csv(os.path.join(DATA, "tokens.csv"))["body"].tolist()
x, cost = timed(lambda: CountVectorizer(min_df=2).fit_transform(texts))
report(cost, {"words": float(x.shape[1]), "entries": float(x.nnz)})
