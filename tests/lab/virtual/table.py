"""What the virtual laboratory found, as a table."""
import csv
import statistics
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
        out.writerows(cells)


def summary(cells):
    errors = [abs(cell.error()) for cell in cells]
    if not errors:
        return "none"
    return (f"{len(cells)} cells: median {100 * statistics.median(errors):.2f} %, worst {100 * max(errors):.1f} %; the interval "
            f"holds {sum(cell.holds() for cell in cells)} ({100 * sum(cell.holds() for cell in cells) / len(cells):.0f} %), "
            f"half-width {100 * statistics.median(cell.half_width() for cell in cells):.1f} % in the median")


def text(cells):
    lines = ["own network: " + summary([cell for cell in cells if cell.origin == cell.network]),
             "other networks: " + summary([cell for cell in cells if cell.origin != cell.network])]
    names = list(dict.fromkeys(cell.network for cell in cells))
    lines.append("error in per cent, from the own network; worst from another one")
    lines.append("program          ranks " + "".join(f"{name:>18}" for name in names))
    for program, ranks in dict.fromkeys((cell.program, cell.ranks) for cell in cells):
        row = f"{program:16} {ranks:5} "
        for name in names:
            here = [cell for cell in cells if (cell.program, cell.ranks, cell.network) == (program, ranks, name)]
            own = [100 * cell.error() for cell in here if cell.origin == name]
            others = sorted((100 * cell.error() for cell in here if cell.origin != name), key=abs)
            row += f"{own[0]:9.2f}{others[-1] if others else float('nan'):9.2f}"
        lines.append(row)
    worst = sorted(cells, key=lambda cell: -abs(cell.error()))[:10]
    lines += [f"{cell.program} {cell.ranks}: {cell.origin} -> {cell.network}: {1e3 * cell.measured:.3f} ms, predicted "
              f"{1e3 * cell.predicted:.3f} ms ({100 * cell.error():+.2f} %)" for cell in worst]
    return "\n".join(lines)
