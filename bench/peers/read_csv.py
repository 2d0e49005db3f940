"""Reading the mixed table with pandas (its C parser, or Arrow's) or polars (types from the first rows, its default)."""
import os

from common import DATA, THREADS, VARIANT, report, timed

path = os.path.join(DATA, "mixed.csv")
reader = VARIANT[0]

if reader == "polars":
    import polars

    assert polars.thread_pool_size() == THREADS
    table, cost = timed(lambda: polars.read_csv(path))
    missing = sum(table.null_count().row(0))
    total, table_mb = table["x0"].sum(), table.estimated_size("mb")
else:
    import pandas
    import pyarrow

    pyarrow.set_cpu_count(THREADS)
    if hasattr(pandas.options.mode, "max_threads"):  # since 3.1 its C parser has threads too
        pandas.options.mode.max_threads = THREADS
    table, cost = timed(lambda: pandas.read_csv(path, engine=reader))
    missing = int(table.isna().to_numpy().sum())
    total, table_mb = table["x0"].sum(), table.memory_usage(deep=True).sum() / 2**20

report(cost, {"rows": len(table), "missing": missing, "sum_x0": float(total)}, table_mb=float(table_mb))
