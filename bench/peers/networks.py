"""Networks of scikit-learn, on numbers of 4 or 8 bytes, and of PyTorch; or what the first says of the training rows."""
import numpy as np
from common import THREADS, VARIANT, load, report, timed

work, library, dtype = VARIANT
X, y, Xt, yt = (load("mlp_" + each) for each in ("X", "y", "Xt", "yt"))
X, Xt = X.astype(dtype), Xt.astype(dtype)
EPOCHS, BATCH, STEP = 3 if work == "cnn" else 1, 128, 0.001

if library == "sklearn":
    import warnings

    from sklearn.neural_network import MLPClassifier
    warnings.simplefilter("ignore")
    make = MLPClassifier((256,), batch_size=BATCH, learning_rate_init=STEP, alpha=0, tol=0, n_iter_no_change=1000,
                         max_iter=EPOCHS, random_state=0)
    if work == "predict":
        model = make.fit(X, y)
        said, cost = timed(lambda: model.predict_proba(X))
        report(cost, {"largest": float(said.max(axis=1).mean())})
    else:
        model, cost = timed(lambda: make.fit(X, y))
        report(cost, {"test_error": float((model.predict(Xt) != yt).mean())})
else:
    import torch
    from torch import nn
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    if work == "cnn":
        X, y = X[:10_000], y[:10_000]
        X, Xt = X.reshape(-1, 1, 28, 28), Xt.reshape(-1, 1, 28, 28)
        net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.MaxPool2d(2),
                            nn.Flatten(), nn.Linear(400, 64), nn.ReLU(), nn.Linear(64, 10))
    else:
        net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    x, t, later = torch.from_numpy(X), torch.from_numpy(y.astype(np.int64)), torch.from_numpy(Xt)
    for layer in net:  # to begin as Lemma does
        if hasattr(layer, "weight"):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)
    net = net.to(x.dtype)

    def train():
        steps, loss = torch.optim.Adam(net.parameters(), lr=STEP), nn.CrossEntropyLoss()
        for _ in range(EPOCHS):
            order = torch.randperm(len(x))
            for begin in range(0, len(x), BATCH):
                rows = order[begin:begin + BATCH]
                steps.zero_grad()
                loss(net(x[rows]), t[rows]).backward()
                steps.step()

    _, cost = timed(train)
    with torch.no_grad():
        report(cost, {"test_error": float((net(later).argmax(dim=1).numpy() != yt).mean())})
