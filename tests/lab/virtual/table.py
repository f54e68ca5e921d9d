"""What the virtual laboratory found, as a table."""
import csv
import statistics
import textwrap
import typing


class Cell(typing.NamedTuple):
    program: str
    ranks: int
    origin: str  # the network of the recording
    network: str
    measured: float  # seconds
    predicted: float
    low: float
    high: float
    recorded: float  # on the network of the recording

    def error(self):
        return self.predicted / self.measured - 1

    def holds(self):
        return self.low is not None and self.low <= self.measured <= self.high

    def half_width(self):
        return (self.high - self.low) / 2 / self.predicted if self.low is not None else float("nan")


def write_csv(cells, name):
    with open(name, "w") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(Cell._fields)
        for cell in cells:
            out.writerow([*cell[:4], *("" if number is None else f"{number:.6g}" for number in cell[4:])])


def read_csv(name):
    with open(name) as file:
        return [Cell(row["program"], int(row["ranks"]), row["origin"], row["network"],
                     *(float(row[key]) if row[key] else None for key in Cell._fields[4:])) for row in csv.DictReader(file)]


def changes(cells, known, least=1e-3):
    """Lines for all cells that are not as they were, to that relative difference."""
    before = {cell[:4]: cell for cell in known}
    lines = []
    for cell in cells:
        old = before.pop(cell[:4], None)
        name = f"{cell.program} {cell.ranks}: {cell.origin} -> {cell.network}"
        if old is None:
            lines.append(f"{name}: new")
            continue
        for what in ("measured", "predicted"):
            was, now = getattr(old, what), getattr(cell, what)
            if abs(now / was - 1) > least:
                lines.append(f"{name}: {what} {1e3 * was:.4f} -> {1e3 * now:.4f} ms")
    return lines + [f"{' '.join(map(str, key))}: gone" for key in before]


def summary(cells):
    errors = [abs(cell.error()) for cell in cells]
    if not errors:
        return "none"
    held = sum(cell.holds() for cell in cells)
    return (f"{len(cells)} cells: error median {100 * statistics.median(errors):.2f} %, worst {100 * max(errors):.1f} %; the "
            f"95 % interval contains {held} ({100 * held / len(cells):.0f} %), median half-width "
            f"{100 * statistics.median(cell.half_width() for cell in cells):.1f} %")


def trust(cells):
    """The share of the intervals that contain what was measured, and their median half-width."""
    return (sum(cell.holds() for cell in cells) / len(cells), statistics.median(cell.half_width() for cell in cells))


def own(cells):
    return [cell for cell in cells if cell.origin == cell.network]


def elsewhere(cells):
    return [cell for cell in cells if cell.origin != cell.network]


def apart(cells, its_way):
    """Cells that count, and cells whose error is explained by SMPI's own behaviour."""
    return ([cell for cell in cells if cell.program not in its_way], [cell for cell in cells if cell.program in its_way])


def rows(cells):
    """By program and ranks: per network the error from the own network, and the largest from another one."""
    for program, ranks in dict.fromkeys((cell.program, cell.ranks) for cell in cells):
        row = []
        for name in dict.fromkeys(cell.network for cell in cells):
            here = [cell for cell in cells if (cell.program, cell.ranks, cell.network) == (program, ranks, name)]
            largest = [max((cell.error() for cell in some), key=abs, default=None) for some in (own(here), elsewhere(here))]
            row.append(largest)
        yield program, ranks, row


def describe(cell):
    return (f"{cell.program}, {cell.ranks} ranks, from {cell.origin} to {cell.network}: {1e3 * cell.measured:.3f} ms, predicted "
            f"{1e3 * cell.predicted:.3f} ms ({100 * cell.error():+.2f} %)")


def worst(cells, count):
    """The largest errors, one of each program on each network."""
    largest = {}
    for cell in sorted(cells, key=lambda cell: -abs(cell.error())):
        largest.setdefault((cell.program, cell.ranks, cell.network), cell)
    return list(largest.values())[:count]


def text(cells, its_way=()):
    counted, set_apart = apart(cells, its_way)
    lines = ["own network: " + summary(own(counted)), "other networks: " + summary(elsewhere(counted))]
    if set_apart:
        lines.append(f"apart ({', '.join(its_way)}): " + summary(set_apart))
    names = list(dict.fromkeys(cell.network for cell in cells))
    lines.append("error in per cent, from the own network; the largest from another one")
    lines.append("program                        ranks " + "".join(f"{name:>18}" for name in names))
    percent = lambda value: f"{100 * value:9.2f}" if value is not None else "        -"
    for program, ranks, row in rows(cells):
        lines.append(f"{program:30} {ranks:5} " + "".join(percent(value) for pair in row for value in pair))
    return "\n".join(lines + [describe(cell) for cell in worst(counted, 10)])


def wrapped(line):
    line = line.replace(" %", "\N{NO-BREAK SPACE}%")
    return textwrap.fill(line, 120, subsequent_indent="  " if line.startswith("* ") else "", break_long_words=False,
                         break_on_hyphens=False).replace("\N{NO-BREAK SPACE}", " ")


def largest(cells, program, ranks):
    """Per cent; with the network that was predicted where it is 1 % or more."""
    some = [cell for cell in cells if (cell.program, cell.ranks) == (program, ranks)]
    if not some:
        return "-"
    cell = max(some, key=lambda cell: abs(cell.error()))
    return f"{100 * cell.error():+.1f}" + (f" ({cell.network})" if abs(cell.error()) >= 0.01 else "")


def markdown(cells, about, its_way):
    """The part of share/doc/accuracy.md between its two marks."""
    counted, set_apart = apart(cells, its_way)
    lines = [f"* Own network: {summary(own(counted))}.", f"* Other networks: {summary(elsewhere(counted))}."]
    for program, why in its_way.items():
        some = [cell for cell in set_apart if cell.program == program]
        lines.append(f"* Not included: {program} ({why}): {summary(some)}.")
    lines = [wrapped(line) for line in lines]
    lines += ["", "| network | |", "|---|---|"] + [f"| {name} | {about[name]} |" for name in about
                                                   if any(cell.network == name for cell in cells)]
    counts = sorted({cell.ranks for cell in cells})
    lines += ["", "Largest error of each program over all pairs of networks, in"
              " per cent (from 1 % on with the predicted network):", "",
              "| program | " + " | ".join(f"{ranks} ranks" for ranks in counts) + " |", "|---|" + "---|" * len(counts)]
    below = []
    for program in dict.fromkeys(cell.program for cell in cells):
        if all(abs(cell.error()) < 0.01 for cell in cells if cell.program == program):
            below.append(program)
        else:
            lines.append(f"| {program} | " + " | ".join(largest(cells, program, ranks) for ranks in counts) + " |")
    if below:
        lines += ["", wrapped(f"Below 1 %: {', '.join(below)}.")]
    return "\n".join(lines) + "\n"


def document(cells, about, its_way, directory, mark="virtual"):
    name = f"{directory}/accuracy.md"
    with open(name) as file:
        before, rest = file.read().split(f"<!-- {mark}: written by tests/lab/virtual/run -->\n")
        after = rest[rest.index(f"<!-- {mark}: end -->"):]
    with open(name, "w") as file:
        file.write(f"{before}<!-- {mark}: written by tests/lab/virtual/run -->\n\n{markdown(cells, about, its_way)}\n{after}")
