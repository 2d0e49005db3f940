"""What every Python peer shares: reading its data, timing the work proper, printing the one JSON line."""
import json
import os
import sys
import time

import numpy as np

DATA = sys.argv[1]
THREADS = int(sys.argv[2])
VARIANT = sys.argv[3:]


def use_onedal():
    """oneDAL under the names of scikit-learn (scikit-learn-intelex), before anything of that is imported."""
    import io
    from contextlib import redirect_stderr

    with redirect_stderr(io.StringIO()):
        from sklearnex import patch_sklearn
        patch_sklearn()


if VARIANT and VARIANT[-1] == "onedal":
    VARIANT.pop()
    use_onedal()


def load(name):
    return np.load(os.path.join(DATA, name + ".npy"))


def timed(work):
    """Runs work() once; its answer, and the wall and processor seconds it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    answer = work()
    return answer, {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def report(cost, quality, **more):
    print(json.dumps({**cost, "quality": quality, **more}), flush=True)
