"""One measurement: a process of its own, what it cost, what it answered, what the rest of the machine did meanwhile."""
import json
import os
import resource
import signal
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass

# Processor time of other processes, in cores, above which a measurement is flagged.
BUSY_CORES = 0.15
BUSY_SECONDS = 0.03  # less than this is the grain of /proc/stat
TIMEOUT = 900  # seconds


class Failed(Exception):
    pass


@dataclass
class Measurement:
    seconds: float
    threads: float
    peak_mb: float
    quality: dict
    table_mb: float
    note: str
    load: float  # load average when it started
    others: float  # cores used by other processes while it ran
    busy: bool


def build_launcher(here):
    """measure.cpp, compiled into the folder where Python keeps what it compiles, when it is missing or old."""
    source, program = os.path.join(here, "measure.cpp"), os.path.join(here, "__pycache__", "measure")
    if not os.path.exists(program) or os.path.getmtime(program) < os.path.getmtime(source):
        os.makedirs(os.path.dirname(program), exist_ok=True)
        subprocess.run(["c++", "-std=c++20", "-O2", source, "-o", program], check=True)
    return program


def machine_seconds():
    """Processor seconds that all processes have used since the start, and those taken by other guests of the host."""
    with open("/proc/stat") as f:
        user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, f.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def our_seconds():
    mine, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return mine.ru_utime + mine.ru_stime + children.ru_utime + children.ru_stime


def run_to_end(command, environment, folder):
    """Standard output. The process has its own group, so that a timeout or Ctrl-C ends all that it started."""
    process = subprocess.Popen(command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, err = process.communicate(timeout=TIMEOUT)
    except BaseException as stop:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if isinstance(stop, subprocess.TimeoutExpired):
            raise Failed(f"no answer after {TIMEOUT} s") from None
        raise
    if process.returncode != 0:
        last = (err.strip() or out.strip() or "no message").splitlines()[-1]
        raise Failed(f"exit code {process.returncode}: {last}")
    return out


def answer_of(out):
    """The JSON line of a worker, or the one document of a tool."""
    for text in (out, *reversed(out.strip().splitlines())):
        try:
            answer = json.loads(text)
        except json.JSONDecodeError:
            continue
        if isinstance(answer, dict):
            return answer
    raise Failed(f"printed no JSON: {out.strip()[-200:]!r}")


def measure(launcher, command, environment, runs=1, whole_process=False):
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report")
        clock, all_before, ours_before = time.perf_counter(), machine_seconds(), our_seconds()
        out = run_to_end([launcher, str(runs), report, *command], environment, folder)
        elapsed = time.perf_counter() - clock
        others = max(0.0, (machine_seconds() - all_before) - (our_seconds() - ours_before))
        with open(report) as f:
            costs = [json.loads(line) for line in f]
    common = dict(peak_mb=max(c["peak_mb"] for c in costs), load=load, others=others / elapsed,
                  busy=others > BUSY_SECONDS and others > BUSY_CORES * elapsed)
    if whole_process:
        seconds = statistics.median(c["wall"] for c in costs)
        cpu = statistics.median(c["cpu"] for c in costs)
        return Measurement(seconds, cpu / seconds, quality={}, table_mb=0.0, note="", **common)
    answer = answer_of(out)
    if "seconds" not in answer:
        raise Failed(f"printed no seconds: {answer}")
    # A worker that does not say what processor time its work took is judged by the whole process.
    cpu, wall = (answer["cpu"], answer["seconds"]) if "cpu" in answer else (costs[0]["cpu"], costs[0]["wall"])
    return Measurement(answer["seconds"], cpu / wall, quality=quality_of(answer), table_mb=answer.get("table_mb", 0.0),
                       note=answer.get("note") or "", **common)


def at_path(document, path):
    for word in path.split("."):
        document = document[int(word)] if isinstance(document, list) else document[word]
    return document


def quality_of(answer, results=None):
    """What a worker says of its answer; of the tool's own JSON the `results` named: quality -> path."""
    quality = answer.get("quality")
    if quality is None and "results" in answer:
        return {name: at_path(answer["results"], path) for name, path in (results or {}).items()}
    return quality if isinstance(quality, dict) else {} if quality is None else {"": quality}
