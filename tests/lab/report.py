"""What the laboratory found, as a table for the terminal, as CSV, and as a page with a plot."""
import csv
import math
import os
import statistics
import textwrap

import machine
import plan


# The model's share of the intervals (kModelError) is chosen where these are.
FIRST_HALF = {"lammps", "halo-eager", "master-worker", "solver"}


class Cell:
    """One prediction, and what was measured."""

    def __init__(self, cell):
        self.flavour, self.program, self.ranks = cell["flavour"], cell["program"], cell["ranks"]
        self.source, self.target = cell["from"], cell["to"]
        runs = cell["measured"]
        self.measured = statistics.median(runs)
        self.loads = cell["loads"]
        self.short = cell["short"] or 0.0
        self.spread = (max(runs) - min(runs)) / 2 / self.measured
        self.before = statistics.median(cell["measured_from"])
        self.recorded = cell["recorded"]
        self.predicted, self.low, self.high, self.nominal = (cell[k] for k in ("predicted", "low", "high", "nominal"))
        # A deadlock is no prediction.
        self.error = self.predicted / self.measured - 1 if self.predicted else math.inf
        self.nominal_error = self.nominal / self.measured - 1 if self.nominal else math.inf
        change = abs(self.measured - self.before)
        self.of_change = abs((self.predicted or math.inf) - self.measured) / change if change else math.inf
        self.ratio = self.measured / self.before

    def excess(self):
        """What of the error the spread of the runs does not explain."""
        return max(0.0, abs(self.error) - self.spread)

    def moves(self):
        """True for another network, on which the program takes at least half as long again, or as much less."""
        return self.source != self.target and (self.ratio >= 1.5 or self.ratio <= 0.67)

    def covered(self):
        return None if self.low is None or self.high is None else self.low <= self.measured <= self.high

    def stated(self):
        """Half of the stated interval, of the prediction; None where there is none."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2 / self.predicted

    def name(self):
        return f"{self.program}, {self.flavour}, {self.ranks} ranks, from {self.source} to {self.target}"


def percent(x, sign=True):
    return "-" if math.isinf(x) else f"{100 * x:+.1f} %" if sign else f"{100 * x:.1f} %"


def seconds(x):
    return "deadlock" if x is None else f"{x:.3f}"


def worst(cells):
    """The largest error beyond the spread of the runs, of all predictions."""
    return max((Cell(cell).excess() for cell in cells), default=0.0)


def coverage(cells):
    """A phrase: how often the stated interval contains the measured median."""
    told = [c for c in cells if c.covered() is not None]
    if not told:
        return "no interval is stated"
    held = sum(c.covered() for c in told)
    return (f"the stated interval contains {held} of {len(told)} measured medians ({percent(held / len(told), False)}); "
            f"median half-width {percent(statistics.median(c.stated() for c in told), False)}")


def summary(cells):
    """Sentences on predictions for another network, and on those for the own."""
    away = [cell for cell in cells if cell.source != cell.target]
    home = [cell for cell in cells if cell.source == cell.target]
    lines = []
    if away:
        errors = [abs(cell.error) for cell in away]
        nominal = [abs(cell.nominal_error) for cell in away]
        moving = [cell for cell in away if cell.moves()]
        lines += [
            f"Other network, {len(away)} predictions: error median {percent(statistics.median(errors), False)}, worst "
            f"{percent(max(errors), False)}; beyond the spread of the runs: worst {percent(max(c.excess() for c in away), False)}, "
            f"{sum(c.excess() > 0.05 for c in away)} above 5 %; {coverage(away)}.",
            f"In {len(moving)} of them the run time changes at least 1.5-fold or to at most 0.67 times: median of error / change "
            f"{percent(statistics.median([c.of_change for c in moving] or [math.inf]), False)}.",
            f"Nominal model (L + n/B with the configured values): median {percent(statistics.median(nominal), False)}, worst "
            f"{percent(max(nominal), False)}.",
            f"Spread of the runs (half of their range): median {percent(statistics.median(c.spread for c in away), False)}.",
        ]
    if home:
        lines.append(f"Network of the recording, {len(home)} predictions: error median "
                     f"{percent(statistics.median(abs(c.error) for c in home), False)}, worst "
                     f"{percent(max(abs(c.error) for c in home), False)}; {coverage(home)}.")
    loads = [load for c in home for load in c.loads]
    if loads:
        busy = sum(load > machine.Rest.CALM for load in loads)
        lines.append(f"{busy} of {len(loads)} runs began or ended while other processes used more than "
                     f"{percent(machine.Rest.CALM, False)} of the processors.")
    return lines


def by_halves(cells):
    """Sentences on the intervals of the programs that kModelError is chosen on, and of the others."""
    lines = []
    halves = [FIRST_HALF, set(plan.PROGRAMS) - FIRST_HALF]
    for programs in halves if cells else []:
        lines.append(f"All predictions of {', '.join(sorted({c.program for c in cells} & programs))}: "
                     f"{coverage([c for c in cells if c.program in programs])}.")
    return lines


def text(cells):
    cells = [Cell(cell) for cell in cells]
    lines = [f"{'MPI':8} {'program':16} {'n':>1} {'from':>14} {'to':>14} {'measured':>9} {'+-':>6} {'predicted':>9} {'+-':>6} "
             f"{'error':>8} {'of change':>9} {'nominal':>8} {'recorded/own':>12} {'cores short':>11}"]
    for c in cells:
        lines.append(f"{c.flavour:8} {c.program:16} {c.ranks} {c.source:>14} {c.target:>14} {c.measured:9.3f} "
                     f"{percent(c.spread, False):>6} {seconds(c.predicted):>9} {percent(c.stated() or 0, False):>6} "
                     f"{percent(c.error):>7}{'!' if c.covered() is False else ' '} "
                     f"{percent(c.of_change, False) if c.source != c.target else '':>9} {percent(c.nominal_error):>8} "
                     f"{percent(c.recorded / c.before - 1):>12} {percent(c.short, False):>11}")
    return "\n".join(lines + summary(cells) + by_halves(cells))


def write_csv(cells, name):
    with open(name, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["mpi", "program", "ranks", "from", "to", "runs", "measured", "spread", "measured_from",
                         "recorded", "predicted", "low", "high", "nominal", "error", "nominal_error", "load", "cores_short"])
        for cell, c in ((cell, Cell(cell)) for cell in cells):
            writer.writerow([c.flavour, c.program, c.ranks, c.source, c.target,
                             " ".join(f"{run:.6f}" for run in cell["measured"]), c.measured, c.spread, c.before,
                             c.recorded, c.predicted, c.low, c.high, c.nominal, c.error, c.nominal_error,
                             f"{statistics.median(c.loads):.3f}", f"{c.short:.3f}"])


def document(cells, directory):
    """accuracy.md between its two marks, and accuracy.svg. What people wrote around the marks stays."""
    cells = [Cell(cell) for cell in cells]
    with open(os.path.join(directory, "accuracy.svg"), "w") as file:
        file.write(plot([c for c in cells if c.source != c.target and c.predicted]))
    name = os.path.join(directory, "accuracy.md")
    with open(name) as file:
        page = file.read()
    begin, end = "<!-- results: written by tests/lab/run -->", "<!-- end of results -->"
    before, rest = page.split(begin)
    with open(name, "w") as file:
        file.write(before + begin + "\n" + "\n".join(tables(cells)) + "\n" + end + rest.split(end)[1])


def wrapped(line):
    line = line.replace(" %", "\N{NO-BREAK SPACE}%")
    return textwrap.fill(line, 120, subsequent_indent="  " if line.startswith("* ") else "", break_long_words=False,
                         break_on_hyphens=False).replace("\N{NO-BREAK SPACE}", " ")


def tables(cells):
    lines = ["", *(wrapped(f"* {line}") for line in summary(cells)), "",
             "Predictions for another network, in per cent:", "",
             "| program | MPI | ranks | error: median | worst | nominal: median | spread: median |", "|---|---|---|---|---|---|---|"]
    for key in dict.fromkeys((c.program, c.flavour, c.ranks) for c in cells):
        some = [c for c in cells if (c.program, c.flavour, c.ranks) == key and c.source != c.target]
        if some:
            lines.append(f"| {key[0]} | {key[1]} | {key[2]} | {middle(abs(c.error) for c in some)} | "
                         f"{number(max(some, key=lambda c: abs(c.error)).error, '+')} | "
                         f"{middle(abs(c.nominal_error) for c in some)} | {middle(c.spread for c in some)} |")
    return [*lines, ""]


def number(x, sign=""):
    """Per cent, without its sign."""
    return "-" if math.isinf(x) else f"{100 * x:{sign}.1f}"


def middle(values):
    return number(statistics.median(values))


def plot(cells):
    """Predicted over measured, on logarithmic axes: a dot for each cell, hollow where it is nominal."""
    size, margin = 560, 60
    values = [x for c in cells for x in (c.measured, c.predicted, c.nominal) if x]
    if not values:
        return '<svg xmlns="http://www.w3.org/2000/svg"/>\n'
    low, high = math.log10(min(values)) - 0.05, math.log10(max(values)) + 0.05

    def at(value):
        return (math.log10(value) - low) / (high - low) * (size - 2 * margin)

    def dot(c, value, style):
        return f'<circle cx="{margin + at(c.measured):.1f}" cy="{size - margin - at(value):.1f}" r="3" {style}/>'

    colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f3fbf", "#444444", "#999933", "#882255"]
    colour = {name: colours[i % len(colours)] for i, name in enumerate(plan.PROGRAMS)}
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{size + 160}" height="{size}" font-family="sans-serif" '
             'font-size="12">', f'<rect width="{size + 160}" height="{size}" fill="white"/>',
             f'<path d="M{margin} {size - margin}H{size - margin}M{margin} {size - margin}V{margin}" stroke="black"/>',
             f'<path d="M{margin} {size - margin}L{size - margin} {margin}" stroke="#888"/>']
    for tick in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20):
        if low <= math.log10(tick) <= high:
            x = margin + at(tick)
            parts += [f'<text x="{x:.1f}" y="{size - margin + 18}" text-anchor="middle">{tick:g}</text>',
                      f'<text x="{margin - 8}" y="{size - x + 4:.1f}" text-anchor="end">{tick:g}</text>',
                      f'<path d="M{x:.1f} {size - margin}v5M{margin} {size - x:.1f}h-5" stroke="black"/>']
    parts += [f'<text x="{size / 2}" y="{size - 14}" text-anchor="middle">measured, s</text>',
              f'<text x="16" y="{size / 2}" text-anchor="middle" transform="rotate(-90 16 {size / 2})">predicted, s</text>']
    parts += [dot(c, c.nominal, f'fill="none" stroke="{colour[c.program]}" stroke-opacity="0.5"')
              for c in cells if c.nominal]
    parts += [dot(c, c.predicted, f'fill="{colour[c.program]}"') for c in cells]
    for i, name in enumerate(dict.fromkeys(c.program for c in cells)):
        parts += [f'<circle cx="{size - 30}" cy="{margin + 20 * i}" r="4" fill="{colour[name]}"/>',
                  f'<text x="{size - 20}" y="{margin + 20 * i + 4}">{name}</text>']
    y = margin + 20 * len({c.program for c in cells}) + 10
    parts.append(f'<text x="{size - 34}" y="{y}">hollow: nominal L + n/B</text></svg>')
    return "\n".join(parts) + "\n"
