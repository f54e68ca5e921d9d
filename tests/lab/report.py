"""What the laboratory found, as a table for the terminal, as CSV, and as a page with a plot."""
import csv
import math
import os
import statistics

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
    """A sentence on how often the stated interval holds what was measured."""
    told = [c for c in cells if c.covered() is not None]
    if not told:
        return "no interval is stated"
    held = sum(c.covered() for c in told)
    return (f"holds the measured median in {held} of {len(told)} ({percent(held / len(told), False)}); it is "
            f"± {percent(statistics.median(c.stated() for c in told), False)} in the median")


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
            f"{len(away)} predictions for another network; {len(moving)} of them ({percent(len(moving) / len(away), False)}) "
            "where the program takes at least 1.5 times as long there, or at most 0.67 times.",
            f"Error: median {percent(statistics.median(errors), False)}, worst {percent(max(errors), False)}; "
            f"beyond the spread of the runs: worst {percent(max(c.excess() for c in away), False)}, "
            f"{sum(c.excess() > 0.05 for c in away)} above 5 %.",
            f"Error over what the other network changes (cells that move): median "
            f"{percent(statistics.median([c.of_change for c in moving] or [math.inf]), False)}.",
            f"L + n/B of the data sheet: median {percent(statistics.median(nominal), False)}, worst "
            f"{percent(max(nominal), False)}; the median is {statistics.median(nominal) / statistics.median(errors):.1f} "
            "times ours.",
            f"The stated interval {coverage(away)}.",
            f"Spread of the runs (half of their range): median {percent(statistics.median(c.spread for c in away), False)}.",
        ]
    halves = [("first", FIRST_HALF), ("second", set(plan.PROGRAMS) - FIRST_HALF)]
    for name, programs in halves if cells else []:
        lines.append(f"Of the {name} half of the programs ({', '.join(sorted({c.program for c in cells} & programs))}), own network "
                     f"and others, the interval {coverage([c for c in cells if c.program in programs])}.")
    if home:
        lines.append(f"{len(home)} predictions for the network of the recording: median error "
                     f"{percent(statistics.median(abs(c.error) for c in home), False)}, worst "
                     f"{percent(max(abs(c.error) for c in home), False)}; the stated interval {coverage(home)}.")
    loads = [load for c in home for load in c.loads]
    if loads:
        busy = sum(load > machine.Rest.CALM for load in loads)
        lines.append(f"{busy} of {len(loads)} runs began or ended while the machine did something else for more than "
                     f"{percent(machine.Rest.CALM, False)} of its time.")
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
    return "\n".join(lines + summary(cells))


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


def tables(cells):
    lines = ["", *(f"* {line}" for line in summary(cells)), "", "By program, of predictions for another network:", "",
             "| program | MPI | ranks | error: median | worst | of the change: median | nominal: median | interval holds | "
             "spread: median |", "|---|---|---|---|---|---|---|---|---|"]
    keys = list(dict.fromkeys((c.program, c.flavour, c.ranks) for c in cells))
    for key in keys:
        some = [c for c in cells if (c.program, c.flavour, c.ranks) == key and c.source != c.target]
        if some:
            moving = [c.of_change for c in some if c.moves()]
            lines.append(f"| {key[0]} | {key[1]} | {key[2]} | {middle(abs(c.error) for c in some)} | "
                         f"{percent(max(some, key=lambda c: abs(c.error)).error)} | "
                         f"{middle(moving) if moving else '-'} | {middle(abs(c.nominal_error) for c in some)} | "
                         f"{sum(c.covered() is True for c in some)} of {len(some)} | {middle(c.spread for c in some)} |")
    away = [c for c in cells if c.source != c.target and c.predicted]
    lines += ["", "The worst of the three programs that have the worst ones:", ""]
    worst_of = {}
    for c in sorted(away, key=Cell.excess, reverse=True):
        worst_of.setdefault(c.program, c)
    lines += [f"* {c.name()}: measured {seconds(c.measured)} s ± {percent(c.spread, False)}, predicted "
              f"{seconds(c.predicted)} s ({percent(c.error)}); on its own network "
              + "".join(f"{percent(h.error)}" for h in cells if (h.program, h.flavour, h.ranks, h.source, h.target)
                        == (c.program, c.flavour, c.ranks, c.source, c.source))
              for c in list(worst_of.values())[:3]]
    lines += ["", "All predictions, in seconds, ± what is stated, and their errors: a row for the network of the recording, a column for "
              "the predicted one; `!` where the stated interval does not hold what was measured. *nominal*: the median "
              "of the errors from all networks. *cores short*: of the time of all ranks of the traced run, what they "
              "were ready to run in and had no core.", ""]
    for key in keys:
        lines += matrix([c for c in cells if (c.program, c.flavour, c.ranks) == key])
    return lines


def middle(values):
    return percent(statistics.median(values), False)


def matrix(cells):
    """The table of one program."""
    nets = list(dict.fromkeys(c.target for c in cells))
    at = {(c.source, c.target): c for c in cells}
    column = {c.target: c for c in cells}
    nominal = {n: statistics.median(c.nominal_error for c in cells if c.target == n) for n in nets}
    first = cells[0]
    lines = [f"| {first.program}, {first.flavour}, {first.ranks} ranks | {' | '.join(nets)} |",
             "|---" * (len(nets) + 1) + "|",
             f"| measured | {' | '.join(f'{seconds(column[n].measured)} ± {percent(column[n].spread, False)}' for n in nets)} |"]
    lines.append(f"| cores short | {' | '.join(percent(column[n].short, False) for n in nets)} |")
    for source in nets:
        if any((source, n) in at for n in nets):
            lines.append(f"| from {source} | {' | '.join(entry(at.get((source, n))) for n in nets)} |")
    lines += [f"| nominal | {' | '.join(percent(nominal[n]) for n in nets)} |", ""]
    return lines


def entry(cell):
    if cell is None:
        return ""
    stated = cell.stated()
    return (f"{seconds(cell.predicted)}{'' if stated is None else f' ± {percent(stated, False)}'}, "
            f"{percent(cell.error)}{' !' if cell.covered() is False else ''}")


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
