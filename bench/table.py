"""From measurements to a table that lines up: medians, ratios, whether a target is met."""
import statistics
from dataclasses import dataclass, field, replace

HEADER = ["workload", "who", "median s", "min s", "threads", "peak MB", "quality", "right", "ratio", "target", "met",
          "others", "busy"]
RIGHT_ALIGNED = {"median s", "min s", "threads", "peak MB", "ratio", "others", "busy"}


@dataclass
class Series:
    """All measurements of one program on one workload."""
    who: str
    measurements: list = field(default_factory=list)
    quality: dict = field(default_factory=dict)
    failure: str = ""

    def seconds(self):
        return statistics.median(m.seconds for m in self.measurements)

    def doubtful(self):
        """Most of it was measured while other processes were busy."""
        return 2 * sum(m.busy for m in self.measurements) > len(self.measurements)

    def measured(self):
        return bool(self.measurements) and not self.failure


def expectations(workload, series, quick):
    """At full size the known values; on a tenth of the rows, and where none is known, what the first peer reached."""
    reference = next((s.quality for s in series[1:] if s.measured() and s.quality), {})
    shares = {"equal": 1e-8, "at_least": 1e-4, "at_most": 1e-4}

    def of(name, expected):
        if expected.rule == "ratio":
            return replace(expected, value=reference[name], tolerance=abs(reference[name]) * expected.tolerance,
                           rule="equal")
        if not quick or not workload.data:
            return expected
        return replace(expected, value=reference[name], tolerance=abs(reference[name]) * shares[expected.rule])

    return {name: of(name, expected) for name, expected in workload.quality.items()
            if name in reference or (expected.rule != "ratio" and not (quick and workload.data))}


def is_right(quality, expected):
    """True, False, or None where nothing is expected."""
    if not expected:
        return None
    if "" in quality and len(expected) == 1:
        quality = {name: quality[""] for name in expected}
    return all(name in quality and e.holds(quality[name]) for name, e in expected.items())


def show_quality(quality):
    return " / ".join(f"{value:.10g}" for value in quality.values()) or "-"


def show_seconds(s):
    return f"{s:.4f}" if s < 1 else f"{s:.3f}"


def yes_no(answer):
    return "-" if answer is None else "yes" if answer else "NO"


def judged_peer(workload, series, right):
    """The fastest, with a right answer, of the peers that the target names; None unless all were measured."""
    named = [s for s in series[1:] if s.who in workload.target.against]
    if len(named) < len(workload.target.against) or not all(s.measured() for s in named):
        return None
    correct = [s for s in named if right[s.who] is not False]
    return min(correct, key=Series.seconds, default=None)


def lemma_targets(target, lemma, right):
    """What is asked of Lemma without a peer: the words, and whether it is met."""
    words, met = [], []
    if target.seconds is not None:
        words.append(f"< {target.seconds * 1000:g} ms")
        met.append(lemma.seconds() < target.seconds)
    if target.memory is not None:
        table = max(m.table_mb for m in lemma.measurements)
        words.append(f"< {target.memory:g} x table" + (f" of {table:.0f} MB" if table else ", not reported"))
        met.append(table > 0 and max(m.peak_mb for m in lemma.measurements) < target.memory * table)
    return ", ".join(words), (all(met) and right is not False) if words else None


def verdict(met, *series):
    return yes_no(met) + ("?" if met is not None and any(s.doubtful() for s in series) else "")


def row_of(workload, s, right, ratio, target, met):
    m = s.measurements
    return [workload.name, s.who, show_seconds(s.seconds()), show_seconds(min(x.seconds for x in m)),
            f"{statistics.median(x.threads for x in m):.1f}", f"{max(x.peak_mb for x in m):.0f}",
            show_quality(s.quality), yes_no(right), "-" if ratio is None else f"{ratio:.2f}", target or "-", met,
            f"{max(x.others for x in m):.2f}", f"{sum(x.busy for x in m)}/{len(m)}"]


def rows_of(workload, series, quick):
    """One row each, Lemma first; series[0] is Lemma's."""
    expected = expectations(workload, series, quick)
    right = {s.who: is_right(s.quality, expected) for s in series}
    lemma = series[0]
    judged = judged_peer(workload, series, right)
    rows = []
    for s in series:
        if s.failure:
            rows.append([workload.name, s.who, "failed", *["-"] * (len(HEADER) - 3)])
        elif not s.measured():
            continue
        elif s is lemma:
            target, met = lemma_targets(workload.target, lemma, right[s.who])
            rows.append(row_of(workload, s, right[s.who], 1.0, target, verdict(met, lemma)))
        else:
            ratio = s.seconds() / lemma.seconds() if lemma.measured() else None
            target, met = "", None
            if s is judged and ratio is not None:
                target = f">= {workload.target.ratio:g}"
                met = ratio >= workload.target.ratio and right[lemma.who] is not False
            rows.append(row_of(workload, s, right[s.who], ratio, target, verdict(met, lemma, s)))
    return rows


def widths_of(rows):
    return [max(len(str(r[i])) for r in [HEADER, *rows]) for i in range(len(HEADER))]


def line_of(cells, widths, separator):
    aligned = [c.rjust(w) if h in RIGHT_ALIGNED else c.ljust(w) for c, w, h in zip(cells, widths, HEADER)]
    return separator.join(aligned)


def as_text(rows):
    widths = widths_of(rows)
    lines, last = [line_of(HEADER, widths, "  ")], None
    for row in rows:
        if row[0] != last:
            lines.append("")
            last = row[0]
        lines.append(line_of(row, widths, "  ").rstrip())
    return "\n".join(lines)


def as_markdown(rows):
    widths = [max(w, 3) for w in widths_of(rows)]
    rule = ["-" * (w - 1) + (":" if h in RIGHT_ALIGNED else "-") for w, h in zip(widths, HEADER)]
    return "\n".join("| " + line_of(cells, widths, " | ") + " |" for cells in [HEADER, rule, *rows])
