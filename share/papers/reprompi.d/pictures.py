"""Pictures of the paper's kinds: histograms, points with intervals, curves, boxes of distributions by size."""
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'pictures.d'))
from charts import CALLS, OTHERS  # noqa: E402
from svg import TEXT, Drawing, byte_size, number, scale_of, seconds, ticks  # noqa: E402

LEFT, TOP, GAP = 62, 40, 74


class Panel:
    """A part of a drawing with axes of its own: x and y are ranges of values, `across` and `up` places of them."""

    def __init__(self, drawing, left, width, height, title, x, y, x_label, y_label, factor=1, x_ticks=True):
        self.drawing, self.left, self.width, self.height = drawing, left, width, height
        self.x, self.y = x, (y[0], y[1] if y[1] > y[0] else y[0] + 1)
        drawing.text(left, TOP - 14, title, bold=True)
        for tick in round_numbers(self.y[0] * factor, self.y[1] * factor):
            at = self.up(tick / factor)
            drawing.line(left, at, left + width, at)
            drawing.text(left - 5, at + 4, number(tick), 'end', 11)
        drawing.line(left, TOP + height, left + width, TOP + height, TEXT)
        drawing.text(left - 46, TOP + height / 2, y_label, 'middle', turn=-90)
        drawing.text(left + width / 2, TOP + height + 36, x_label, 'middle')
        if x_ticks:
            scale = x_ticks if isinstance(x_ticks, float) else 1
            for tick in round_numbers(x[0] * scale, x[1] * scale, max(5, int(width / 70))):
                drawing.text(self.across(tick / scale), TOP + height + 16, number(tick), 'middle', 11)

    def across(self, value):
        return self.left + self.width * (value - self.x[0]) / (self.x[1] - self.x[0])

    def up(self, value):
        part = (value - self.y[0]) / (self.y[1] - self.y[0])
        return TOP + self.height * (1 - min(max(part, 0), 1.02))

    def curve(self, points, colour, width=1.6, dash=''):
        for (x1, y1), (x2, y2) in zip(points, points[1:]):
            self.drawing.line(self.across(x1), self.up(y1), self.across(x2), self.up(y2), colour, width, dash)

    def point(self, x, y, colour, tip='', size=4):
        self.drawing.rect(self.across(x) - size / 2, self.up(y) - size / 2, size, size, colour, tip)


def round_numbers(low, high, wanted=6):
    steps = ticks(high - low, wanted)
    step = steps[1] if len(steps) > 1 else high - low
    first = math.ceil(low / step - 1e-9)
    return [step * i for i in range(first, int(math.floor(high / step + 1e-9)) + 1)]


def legend(drawing, names, y, colours=CALLS):
    x = LEFT
    for name, colour in zip(names, colours):
        drawing.rect(x, y, 13, 13, colour)
        drawing.text(x + 18, y + 11, name)
        x += 40 + 7 * len(name)


def histograms(title, panels, logarithmic=False, width=1000, height=200):
    """panels: [(title, [(name, seconds of each, mean)])]; beside each other. Of each series the share of its observations
    by time, up to the 98th percentile of all of the panel; a vertical line at the mean. With `logarithmic` from a power
    of ten to the next is as far as to another."""
    scaled = math.log10 if logarithmic else float
    panels = [(heading, [(name, list(map(scaled, values)), scaled(mean)) for name, values, mean in series])
              for heading, series in panels]
    alone = all(len(series) == 1 for _, series in panels)
    names = list(dict.fromkeys(name for _, series in panels for name, _, _ in series))
    drawing = Drawing(width, TOP + height + 46 + (0 if alone else 26), title)
    each = (width - (LEFT + 8) * len(panels)) / len(panels)
    for i, (heading, series) in enumerate(panels):
        every = sorted(value for _, values, _ in series for value in values)
        low, high = every[0], every[int(0.98 * (len(every) - 1))]
        if high <= low:
            high = low * 1.01 + 1e-9
        factor, unit = (1.0, '') if logarithmic else scale_of(high)
        bins = 60 if len(series) == 1 else 40
        shares = []
        for _, values, _ in series:
            counts = [0] * bins
            for value in values:
                if value <= high:
                    counts[min(bins - 1, int((value - low) / (high - low) * bins))] += 1
            shares.append([count / len(values) for count in counts])
        most = max(max(share) for share in shares)
        panel = Panel(drawing, LEFT + i * (each + LEFT + 8), each, height, heading, (low, high), (0, most * 1.05), unit,
                      'share', x_ticks=False if logarithmic else float(factor))
        for power in range(math.ceil(low), math.floor(high) + 1) if logarithmic else ():
            drawing.text(panel.across(power), TOP + height + 16, seconds(10.0 ** power), 'middle', 11)
        for (name, _, mean), share in zip(series, shares):
            colour = CALLS[0 if alone else names.index(name) % len(CALLS)]
            step = (high - low) / bins
            if len(series) == 1:
                for k, part in enumerate(share):
                    x = panel.across(low + k * step)
                    drawing.rect(x, panel.up(part), panel.width / bins * 0.92, panel.up(0) - panel.up(part), colour)
            else:
                outline = []
                for k, part in enumerate(share):
                    outline += [(low + k * step, part), (low + (k + 1) * step, part)]
                panel.curve(outline, colour)
            if low <= mean <= high:
                drawing.line(panel.across(mean), TOP, panel.across(mean), TOP + height, colour, 1.5, '5 3')
    if not alone:
        legend(drawing, names, TOP + height + 48)
    return drawing.svg()


def normality(title, parts, width=1000, height=190):
    """parts: [(heading, values, [(expected, found)])]: a histogram and a Q-Q plot of each, beside each other."""
    drawing = Drawing(width, TOP + height + 46, title)
    each = (width - (LEFT + 8) * 2 * len(parts)) / (2 * len(parts))
    for i, (heading, values, pairs) in enumerate(parts):
        low, high = min(values), max(values)
        factor, unit = scale_of(high)
        counts = [0] * 30
        for value in values:
            counts[min(29, int((value - low) / ((high - low) or 1) * 30))] += 1
        panel = Panel(drawing, LEFT + 2 * i * (each + LEFT + 8), each, height, heading, (low, high or 1),
                      (0, max(counts) * 1.05), unit, 'samples', x_ticks=float(factor))
        for k, count in enumerate(counts):
            x = panel.across(low + (high - low) * k / 30)
            drawing.rect(x, panel.up(count), each / 30 * 0.92, panel.up(0) - panel.up(count), CALLS[0])
        reach = max(3.2, max(abs(value) for pair in pairs for value in pair))
        plot = Panel(drawing, LEFT + (2 * i + 1) * (each + LEFT + 8), each, height, 'against the normal', (-reach, reach),
                     (-reach, reach), 'standard normal', 'standardised')
        plot.curve([(-reach, -reach), (reach, reach)], OTHERS, 1, '4 3')
        for x, y in pairs:
            plot.point(x, y, CALLS[5], size=3)
    return drawing.svg()


def intervals(title, panels, width=1000, height=190):
    """panels: [(title, [(launch, mean, half its interval)])]"""
    drawing = Drawing(width, TOP + height + 46, title)
    each = (width - (LEFT + 8) * len(panels)) / len(panels)
    for i, (heading, points) in enumerate(panels):
        low = min(mean - half for _, mean, half in points)
        high = max(mean + half for _, mean, half in points)
        factor, unit = scale_of(high)
        margin = (high - low) * 0.08
        panel = Panel(drawing, LEFT + i * (each + LEFT + 8), each, height, heading, (0, max(at for at, _, _ in points) + 1),
                      (low - margin, high + margin), 'launch', f'mean in {unit}', factor)
        for at, mean, half in points:
            x = panel.across(at)
            drawing.line(x, panel.up(mean - half), x, panel.up(mean + half), CALLS[0], 1.4)
            panel.point(at, mean, CALLS[5], f'launch {at}: {seconds(mean)}')
    return drawing.svg()


def over_time(title, series, x_label, width=1000, height=280, note='full: mean, dashed: median'):
    """series: [(name, [(x, seconds)], dashed)]; y does not start at 0; note: text beside the legend."""
    every = [point for _, points, _ in series for point in points]
    low, high = min(y for _, y in every), max(y for _, y in every)
    factor, unit = scale_of(high)
    margin = (high - low) * 0.06 or high * 0.1
    drawing = Drawing(width, TOP + height + 72, title)
    panel = Panel(drawing, LEFT, width - LEFT - 12, height, title, (0, max(x for x, _ in every)),
                  (max(0, low - margin), high + margin), x_label, f'time in {unit}', factor)
    families = list(dict.fromkeys(name.split(',')[0] for name, _, _ in series))
    for name, points, dashed in series:
        panel.curve(points, CALLS[families.index(name.split(',')[0]) % len(CALLS)], 1.8, '5 4' if dashed else '')
    legend(drawing, families, TOP + height + 50)
    drawing.text(width - 12, TOP + height + 61, note, 'end', 11)
    return drawing.svg()


def boxes(title, panels, names, y_label='', relative=False, width=1000, height=230):
    """panels: [(title, [(bytes, [values of each name], words above)])]: from least to largest a line, between the
    quartiles a box, a stroke at the median. y is logarithmic unless relative."""
    drawing = Drawing(width, TOP + height + 72, title)
    each = (width - (LEFT + 8) * len(panels)) / len(panels)
    every = [value for _, cells in panels for _, sides, _ in cells for values in sides for value in values]
    low, high = min(every), max(every)
    factor, unit = (1, y_label) if relative else scale_of(high)
    if not relative:
        low, high = math.log10(low), math.log10(high)
    margin = (high - low) * 0.14 or 0.05
    place = (lambda value: value) if relative else (lambda value: math.log10(value))
    for i, (heading, cells) in enumerate(panels):
        left = LEFT + i * (each + LEFT + 8)
        panel = Panel.__new__(Panel)
        panel.drawing, panel.left, panel.width, panel.height = drawing, left, each, height
        panel.x, panel.y = (0, len(cells)), (low - margin * (0.4 if not relative else 0.1), high + margin)
        drawing.text(left, TOP - 14, heading, bold=True)
        if relative:
            marks = round_numbers(panel.y[0], panel.y[1])
        else:
            marks = [m * 10.0 ** p / factor for p in range(-9, 9) for m in (1, 2, 5)
                     if panel.y[0] <= math.log10(m * 10.0 ** p / factor) <= panel.y[1]]
        for mark in marks:
            at = panel.up(place(mark))
            drawing.line(left, at, left + each, at)
            drawing.text(left - 5, at + 4, number(mark * factor), 'end', 11)
        drawing.line(left, TOP + height, left + each, TOP + height, TEXT)
        drawing.text(left - 46, TOP + height / 2, y_label if relative else f'time in {unit}', 'middle', turn=-90)
        slot = each / len(cells)
        for k, (size, sides, words) in enumerate(cells):
            drawing.text(left + slot * (k + 0.5), TOP + height + 16, byte_size(size).replace(' ', '') if slot < 60
                         else byte_size(size), 'middle', 10 if slot < 45 else 11)
            if words:
                top = max(max(values) for values in sides)
                drawing.text(left + slot * (k + 0.5), panel.up(place(top)) - 7, words, 'middle', 13, bold=True)
            part = slot * 0.7 / len(sides)
            for side, values in enumerate(sides):
                values = sorted(values)
                x = left + slot * (k + 0.15) + part * side
                quarter = lambda q: values[min(len(values) - 1, int(q * (len(values) - 1) + 0.5))]
                y = lambda value: panel.up(place(value))
                colour = CALLS[side % len(CALLS)]
                drawing.line(x + part / 2, y(values[0]), x + part / 2, y(values[-1]), colour, 1.2)
                drawing.rect(x + part * 0.1, y(quarter(0.75)), part * 0.8, max(1.5, y(quarter(0.25)) - y(quarter(0.75))), colour,
                             f'{names[side] if side < len(names) else ""}, {byte_size(size)}: '
                             + (f'{quarter(0.5):.3f}' if relative else seconds(quarter(0.5))))
                drawing.line(x + part * 0.1, y(quarter(0.5)), x + part * 0.9, y(quarter(0.5)), '#ffffff', 1)
    drawing.text(LEFT + (width - LEFT) / 2, TOP + height + 36, 'message size', 'middle')
    if len(names) > 1:
        legend(drawing, names, TOP + height + 50)
    return drawing.svg()


def bars(title, panels, names, width=1000, height=210):
    """panels: [(title, [(bytes, [value of each name])])], on one scale."""
    drawing = Drawing(width, TOP + height + 72, title)
    each = (width - (LEFT + 8) * len(panels)) / len(panels)
    most = max(value for _, cells in panels for _, sides in cells for value in sides)
    factor, unit = scale_of(most)
    for i, (heading, cells) in enumerate(panels):
        panel = Panel(drawing, LEFT + i * (each + LEFT + 8), each, height, heading, (0, len(cells)), (0, most * 1.04),
                      'message size', f'mean in {unit}', factor, x_ticks=False)
        slot = each / len(cells)
        for k, (size, sides) in enumerate(cells):
            drawing.text(panel.left + slot * (k + 0.5), TOP + height + 16, byte_size(size).replace(' ', ''), 'middle', 10)
            for side, value in enumerate(sides):
                x = panel.left + slot * (k + 0.12 + 0.38 * side)
                drawing.rect(x, panel.up(value), slot * 0.36, panel.up(0) - panel.up(value), CALLS[side],
                             f'{names[side]}, {byte_size(size)}: {seconds(value)}')
    legend(drawing, names, TOP + height + 50)
    return drawing.svg()
