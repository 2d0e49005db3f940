"""The area under the ROC curve of many scores."""
from common import load, report, timed
from sklearn.metrics import roc_auc_score

s, y = load("scores_s")[:, 0], load("scores_y")[:, 0]
area, cost = timed(lambda: roc_auc_score(y, s))
report(cost, {"auc": float(area)})
