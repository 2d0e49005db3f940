#!/usr/bin/env python3
"""Lemma against its peers on the same data, in one run, taking turns. See README.md beside this file."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import machine
import table
from measuring import Failed, answer_of, build_launcher, measure, quality_of, run_to_end
from workloads import WORKLOADS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PYTHON = HERE / ".venv" / "bin" / "python"
LEMMA = "Lemma"
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS",
                    "R_DATATABLE_NUM_THREADS")


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def options():
    o = argparse.ArgumentParser(description=__doc__)
    o.add_argument("--list", action="store_true", help="list the workloads and end")
    o.add_argument("--only", action="append", default=[], metavar="WORKLOAD",
                   help="only these (repeat it, or separate by commas)")
    o.add_argument("--peers", metavar="NAMES",
                   help="only peers whose name contains one of these (by commas); 'none' for Lemma alone")
    o.add_argument("--no-lemma", action="store_true", help="measure the peers alone")
    o.add_argument("--repeats", type=int, help="measurements of each program (5; 3 with --quick)")
    o.add_argument("--threads", type=int, default=2, help="threads for Lemma and every peer (2)")
    o.add_argument("--simd", metavar="LEVEL",
                   help="Lemma with lesser vector units, as on a user's machine: baseline or avx2 (peers keep theirs)")
    o.add_argument("--quick", action="store_true",
                   help="a tenth of the rows, to see that all works; its figures mean little")
    o.add_argument("--patience", type=int, default=0, metavar="N",
                   help="take a measurement again, up to N times, when other processes were busy meanwhile (0)")
    o.add_argument("--results", metavar="FILE",
                   help="where to write the summary (bench/RESULTS.md, when all was measured at full size)")
    o.add_argument("--lemma", metavar="PATH", help="the command (build/release/bin/lemma, else that of build/bench)")
    o.add_argument("--lemma-bench", metavar="PATH", default=ROOT / "build/bench/bin/lemma_bench", help="the worker")
    o.add_argument("--no-setup", action="store_true", help="do not look whether the peers are installed")
    chosen = o.parse_args()
    chosen.repeats = chosen.repeats or (3 if chosen.quick else 5)
    if chosen.repeats < 1 or chosen.threads < 1:
        o.error("--repeats and --threads must be at least 1")
    chosen.workloads = pick_workloads(chosen.only, o)
    # Absolute, since every program runs in a scratch folder of its own.
    chosen.lemma = os.path.abspath(chosen.lemma or next(filter(Path.exists, lemma_commands()), lemma_commands()[0]))
    chosen.lemma_bench = os.path.abspath(chosen.lemma_bench)
    return chosen


def lemma_commands():
    return [ROOT / "build" / preset / "bin" / "lemma" for preset in ("release", "bench")]


def pick_workloads(only, parser):
    names = [name for part in only for name in part.split(",") if name]
    known = {w.name: w for w in WORKLOADS}
    for name in names:
        if name not in known:
            parser.error(f"no workload called '{name}'; there are: {' '.join(known)}")
    return [w for w in WORKLOADS if not names or w.name in names]


def pick_peers(workload, wanted):
    if wanted is None:
        return workload.peers
    return [p for p in workload.peers if any(part and part in p.name.lower() for part in wanted.lower().split(","))]


def list_workloads():
    for w in WORKLOADS:
        print(f"{w.name:10} {w.title}")
        print(f"{'':10} peers: {', '.join(p.name for p in w.peers)}")


def check_lemma(chosen):
    needed = {chosen.lemma if w.lemma else chosen.lemma_bench for w in chosen.workloads}
    missing = sorted(path for path in needed if not os.access(path, os.X_OK))
    if missing and not chosen.no_lemma:
        say("run.py: not built:", *missing)
        say("Build it with `cmake --preset bench && cmake --build --preset bench`, name it with --lemma or")
        say("--lemma-bench, or measure the peers alone with --no-lemma.")
        sys.exit(2)


def data_folder(chosen):
    folder = Path(os.environ.get("LEMMA_BENCH_DATA") or HERE / "data").resolve()
    return folder / "quick" if chosen.quick else folder


def make_data(workloads, folder, quick):
    missing = list(dict.fromkeys(w.data for w in workloads if not all((folder / f).exists() for f in w.files)))
    if missing:
        say("making data in", folder)
        size = ["--quick"] if quick else []
        subprocess.run([PYTHON, HERE / "gen.py", folder, *size, *missing], check=True, stdout=sys.stderr)


def warm(folder, files):
    """Reads the files once, so that nobody's first turn waits for the disk."""
    for name in files:
        with open(folder / name, "rb") as f:
            while f.read(1 << 24):
                pass


class Runner:
    def __init__(self, chosen, peers):
        self.chosen, self.peers = chosen, peers
        self.data = data_folder(chosen)
        self.launcher = build_launcher(str(HERE))
        self.words = dict(data=self.data, threads=chosen.threads, python=PYTHON, here=HERE, lemma=chosen.lemma,
                          lemma_bench=chosen.lemma_bench)
        self.clean = {name: value for name, value in os.environ.items()
                      if name not in THREAD_VARIABLES and not name.startswith("OPENBLAS_")}
        self.lemmas = {**self.clean, **({"LEMMA_SIMD": chosen.simd} if chosen.simd else {})}

    def programs(self, workload):
        """(name, command, environment), Lemma first. Lemma gets no help: finding the right kernels is its own task."""
        lemma = workload.lemma or ("{lemma_bench}", workload.name, "{data}", "--threads", "{threads}")
        mine = [] if self.chosen.no_lemma else [(LEMMA, self.fill(lemma), self.lemmas)]
        threads = {name: str(self.chosen.threads) for name in THREAD_VARIABLES}
        return mine + [(p.name, self.fill(p.command), {**self.clean, **threads, **self.peers.environment(p.blas)})
                       for p in pick_peers(workload, self.chosen.peers)]

    def fill(self, command):
        return [part.format(**self.words) for part in command]

    def series(self, workload):
        """All programs take turns, as often as asked for."""
        warm(self.data, workload.files)
        programs = self.programs(workload)
        result = {name: table.Series(name) for name, _, _ in [(LEMMA, 0, 0), *programs]}
        if workload.whole_process:
            for name, command, environment in programs:
                self.first_answer(workload, result[name], command, environment)
        for turn in range(1, self.chosen.repeats + 1):
            for name, command, environment in programs:
                if not result[name].failure:
                    self.one_turn(workload, result[name], command, environment, turn)
        return list(result.values())

    def first_answer(self, workload, series, command, environment):
        """A whole process is timed without looking at what it prints: it is run once before, and judged by that."""
        try:
            with tempfile.TemporaryDirectory() as folder:
                out = run_to_end(command, environment, folder)
            series.quality = quality_of(answer_of(out), workload.results) if workload.quality else {}
        except Failed as failure:
            self.fail(workload, series, failure)

    def one_turn(self, workload, series, command, environment, turn):
        attempts = []
        while len(attempts) <= self.chosen.patience and not (attempts and not attempts[-1].busy):
            try:
                m = measure(self.launcher, command, environment, workload.runs, workload.whole_process)
            except Failed as failure:
                self.fail(workload, series, failure)
                return
            attempts.append(m)
            say(f"{workload.name:10} {series.who:14} {turn}/{self.chosen.repeats} {m.seconds:9.4f} s "
                f"{m.threads:4.1f} threads {m.peak_mb:6.0f} MB   load {m.load:.2f}, others {m.others:.2f} cores"
                + ("  BUSY MACHINE" if m.busy else ""))
        # Chosen by what others did, never by how fast it was.
        quietest = min(attempts, key=lambda m: m.others)
        series.measurements.append(quietest)
        series.quality = quietest.quality or series.quality

    def fail(self, workload, series, failure):
        series.failure = str(failure)
        say(f"{workload.name:10} {series.who:14} failed: {failure}")


def summary(chosen, peers, rows, started):
    lines = ["# Lemma against its peers", "",
             f"One run of `make bench` on {started}: median of {chosen.repeats}, {chosen.threads} threads, Lemma and",
             "its peers in turn on the same data, each measurement in a process of its own.", ""]
    lines += [f"- {name}: {value}" for name, value in machine.describe().items()]
    lines += [] if chosen.no_lemma else ["- Lemma: " + lemma_version(chosen.lemma)]
    lines += ["- peers: " + ", ".join(f"{name} {version}" for name, version in peers.versions.items())]
    lines += ["- BLAS of " + line for line in peers.describe_blas()]
    lines += ["", *explanation(), "", table.as_markdown(rows), ""]
    for w in chosen.workloads:
        lines.append(f"- {w.name}: {w.title}." + "".join(f" {p.name}: {p.note}." for p in w.peers if p.note))
    return "\n".join(lines) + "\n"


def lemma_version(lemma):
    """Version, compiler and kernels as the tool itself tells them, on one line."""
    lines = machine.output(lemma, "--version", "--verbose").splitlines()
    return "; ".join(line.strip() for line in lines if line.strip())


def explanation():
    return ["Ratio: the peer's median over Lemma's. Threads: processor time over wall time of the work. Quality: the",
            "values named in `workloads.py`; right: they are the known ones. Others: the most that other processes",
            "used, in cores, during a measurement; busy: how many measurements were taken while that was too much",
            "to trust them. A target stands beside the fastest of the peers it names;",
            "a question mark says that most measurements behind it were disturbed."]


def by_hand(results):
    """the part of the old summary that another script measured (portable.py): it stays"""
    old = results.read_text() if results.exists() else ""
    at = old.find("\n## What --portable costs")
    return old[at:] if at >= 0 else ""


def main():
    chosen = options()
    if chosen.list:
        return list_workloads()
    check_lemma(chosen)
    if not chosen.no_setup:
        groups = sorted({w.group for w in chosen.workloads} - {"base"})
        subprocess.run([HERE / "setup", *groups], check=True, stdout=sys.stderr)
    if not PYTHON.exists() or not shutil.which("Rscript"):
        sys.exit("run.py: the peers are not installed: run bench/setup")
    make_data(chosen.workloads, data_folder(chosen), chosen.quick)
    started = time.strftime("%Y-%m-%d")
    peers = machine.Peers(str(PYTHON), str(HERE))
    runner = Runner(chosen, peers)
    say("\n".join(f"{name}: {value}" for name, value in machine.describe().items()))
    say("\n".join("BLAS of " + line for line in peers.describe_blas()))
    say(f"load average {os.getloadavg()[0]:.2f}\n")

    rows, failures = [], []
    for workload in chosen.workloads:
        series = runner.series(workload)
        rows += table.rows_of(workload, series, chosen.quick)
        failures += [f"{workload.name}, {s.who}: {s.failure}" for s in series if s.failure]
    print("\n" + table.as_text(rows) + "\n")
    for failure in failures:
        print("failed:", failure)
    complete = not (chosen.simd or chosen.quick or chosen.only or chosen.peers or chosen.no_lemma or failures)
    results = chosen.results or (HERE / "RESULTS.md" if complete else None)
    if results:
        Path(results).write_text(summary(chosen, peers, rows, started) + by_hand(Path(results)))
        print("written to", results)
    else:
        print("RESULTS.md is left as it is: a whole run at full size without a failure writes it (or --results FILE)")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
