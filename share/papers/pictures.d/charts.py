"""The kinds of pictures in the papers: stacked bars by rank, a matrix, a histogram, timelines, curves."""
import math

from svg import GRID, TEXT, Drawing, byte_size, number, scale_of, seconds, ticks

# As on the pages of rubato (share/report/page.js): Okabe and Ito's set; compute stays in the back.
COMPUTE, OTHERS, LOST, OUTSIDE = '#b9c4ce', '#7d858c', '#7a3b8f', '#e4e9ed'
CALLS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442']
FIXED = {'compute': COMPUTE, 'overhead': '#4a5661', 'flushing': '#b08cc0', 'lost core': LOST, 'not recorded': '#d9c7e0',
         'before, after': OUTSIDE}


def colours_of(names):
    """A colour for each call; a wait has that of its call and is striped."""
    colours, calls = {}, []
    for name in names:
        if name in FIXED:
            colours[name] = FIXED[name]
        elif name.endswith(' others'):
            colours[name] = OTHERS
        else:
            call = name[2:] if name[1:2] == '_' else name
            if call not in calls:
                calls.append(call)
            colours[name] = CALLS[calls.index(call) % len(CALLS)]
    return colours


def wrapped(words, width):
    """Lines of at most `width` characters; breaks behind blanks, commas and colons."""
    lines, line = [], ''
    piece = ''
    for char in words:
        piece += char
        if char in ' ,:':
            if len(line + piece) > width and line:
                lines.append(line)
                line = ''
            line, piece = line + piece, ''
    if len(line + piece) > width and line:
        lines, line = lines + [line], ''
    return [text.strip() for text in lines + [line + piece]]


def stacked_bars(title, panels, names, y_label='', width=1000):
    """panels: [(title, [(label, {name: seconds})])], side by side on one scale; a bar's pieces are `names`, from the
    bottom up."""
    most = max(sum(bar.values()) for _, bars in panels for _, bar in bars)
    factor, unit = scale_of(most)
    left, gap, height = 58, 18, 300
    all_bars = sum(len(bars) for _, bars in panels)
    slot = (width - left - gap * len(panels)) / all_bars
    headings = [wrapped(panel, max(10, int(slot * len(bars) / 6.4)))[:3] for panel, bars in panels]
    top = 12 + 15 * max(map(len, headings))
    whole = sum(sum(bar.values()) for _, bars in panels for _, bar in bars)
    # Names too small to be visible in the bars are left out of the legend.
    legend = [name for name in names if sum(bar.get(name, 0) for _, bars in panels for _, bar in bars) > 5e-4 * whole]
    columns = max(1, (width - left) // 150)
    legend_rows = math.ceil(len(legend) / columns)
    drawing = Drawing(width, top + height + 44 + 19 * legend_rows, title)
    colours = colours_of(names)
    y = lambda value: top + height * (1 - value / most)
    for tick in ticks(most * factor):
        at = y(tick / factor)
        drawing.line(left, at, width - 8, at)
        drawing.text(left - 6, at + 4, number(tick), 'end')
    drawing.text(14, top + height / 2, y_label or f'time in {unit}', 'middle', turn=-90)
    x = left
    for (panel, bars), lines in zip(panels, headings):
        for i, line in enumerate(lines):
            drawing.text(x + slot * len(bars) / 2, top - 8 - 15 * (len(lines) - 1 - i), line, 'middle', bold=True)
        every = max(1, math.ceil(22 / slot)) if len(bars) > 1 else 1
        for at, (label, bar) in enumerate(bars):
            done = 0
            for name in names:
                value = bar.get(name, 0)
                fill = colours[name]
                if name[1:2] == '_':
                    fill = drawing.striped(fill)
                drawing.rect(x + slot * 0.08, y(done + value), slot * 0.84, y(done) - y(done + value), fill,
                             f'{panel}, {label}: {name} {seconds(value)}')
                done += value
            if at % every == 0:
                drawing.text(x + slot / 2, top + height + 15, label, 'middle', 11)
            x += slot
        x += gap
    drawing.line(left, top + height, width - 8, top + height, TEXT)
    for i, name in enumerate(legend):
        at_x, at_y = left + i % columns * 150, top + height + 30 + 19 * (i // columns)
        fill = drawing.striped(colours[name]) if name[1:2] == '_' else colours[name]
        drawing.rect(at_x, at_y, 13, 13, fill, stroke=OTHERS)
        drawing.text(at_x + 18, at_y + 11, name)
    return drawing.svg()


def heat_map(title, matrix, x_label, y_label, unit, show):
    """matrix[x][y]; white is nothing."""
    size = len(matrix)
    cell = max(6, min(34, 480 // size))
    left, top = 64, 40
    most = max(max(row) for row in matrix) or 1
    drawing = Drawing(left + cell * size + 130, top + cell * size + 46, title)

    def shade(value):
        if value <= 0:
            return '#ffffff'
        part = value / most
        return '#%02x%02x%02x' % tuple(round(low + (high - low) * part) for low, high in
                                       ((222, 8), (235, 48), (247, 107)))

    drawing.text(left, 22, title, bold=True)
    for x in range(size):
        for y in range(size):
            # The first receiver is at the bottom, as on the paper's axes.
            drawing.rect(left + cell * x, top + cell * (size - 1 - y), cell, cell, shade(matrix[x][y]),
                         f'{x} to {y}: {show(matrix[x][y])}', stroke=GRID)
    every = max(1, math.ceil(18 / cell))
    for i in range(0, size, every):
        drawing.text(left + cell * (i + 0.5), top + cell * size + 14, i, 'middle', 11)
        drawing.text(left - 5, top + cell * (size - 0.5 - i) + 4, i, 'end', 11)
    drawing.text(left + cell * size / 2, top + cell * size + 34, x_label, 'middle')
    drawing.text(18, top + cell * size / 2, y_label, 'middle', turn=-90)
    x, steps = left + cell * size + 20, 40
    for i in range(steps):
        drawing.rect(x, top + cell * size * (1 - (i + 1) / steps), 16, cell * size / steps + 0.5, shade(most * (i + 0.5) / steps))
    for part in (0, 0.25, 0.5, 0.75, 1):
        drawing.text(x + 22, top + cell * size * (1 - part) + 4, show(most * part), size=11)
    drawing.text(x, top - 10, unit)
    return drawing.svg()


def histogram(title, bars, y_label, width=760, x_label='from this size up to less than twice as much'):
    """bars: [(label, {name: count})]"""
    names = sorted({name for _, bar in bars for name in bar})
    most = max(sum(bar.values()) for _, bar in bars) or 1
    left, top, height = 70, 40, 260
    slot = (width - left - 10) / len(bars)
    drawing = Drawing(width, top + height + 70, title)
    colours = {name: CALLS[i % len(CALLS)] for i, name in enumerate(names)}
    drawing.text(left, 22, title, bold=True)
    for tick in ticks(most):
        at = top + height * (1 - tick / most)
        drawing.line(left, at, width - 8, at)
        drawing.text(left - 6, at + 4, f'{tick:,.0f}', 'end')
    drawing.text(16, top + height / 2, y_label, 'middle', turn=-90)
    for i, (label, bar) in enumerate(bars):
        done = 0
        for name in names:
            part = bar.get(name, 0) * height / most
            drawing.rect(left + slot * (i + 0.1), top + height - done - part, slot * 0.8, part, colours[name],
                         f'from {label}: {name} {bar.get(name, 0):,}')
            done += part
        drawing.text(left + slot * (i + 0.5), top + height + 15, label, 'middle', 10.5)
    drawing.line(left, top + height, width - 8, top + height, TEXT)
    drawing.text(left + (width - left) / 2, top + height + 34, x_label, 'middle')
    for i, name in enumerate(names):
        drawing.rect(left + i * 140, top + height + 48, 13, 13, colours[name])
        drawing.text(left + 18 + i * 140, top + height + 59, name)
    return drawing.svg()


def curves(title, series, x_label, width=1000, dashed=(), marks=False, log_y=False, unit=None):
    """series: [(name, [(x, seconds)])]. With `unit` the values are that as they stand."""
    every = [point for _, points in series for point in points]
    most_x, most = max(x for x, _ in every) or 1, max(y for _, y in every) or 1
    factor, name = (1, unit) if unit is not None else scale_of(most)
    low = min(y for _, y in every if y > 0)
    left, top, height = 70, 40, 320
    drawing = Drawing(width, top + height + 76, title)
    drawing.text(left, 22, title, bold=True)
    x_of = lambda x: left + (width - left - 20) * x / most_x

    def y_of(y):
        part = math.log(max(y, low) / low) / math.log(most / low) if log_y and most > low else y / most
        return top + height * (1 - part)

    powers = range(math.ceil(math.log10(low * factor)), math.floor(math.log10(most * factor)) + 1)
    for tick in [10.0 ** power for power in powers] if log_y else ticks(most * factor):
        at = y_of(tick / factor)
        drawing.line(left, at, width - 20, at)
        drawing.text(left - 6, at + 4, number(tick), 'end')
    for tick in ticks(most_x, 8):
        drawing.text(x_of(tick), top + height + 16, f'{tick:,.0f}' if tick >= 1e4 else number(tick), 'middle', 11)
    drawing.text(left + (width - left) / 2, top + height + 34, x_label, 'middle')
    if name:
        drawing.text(16, top + height / 2, f'time in {name}', 'middle', turn=-90)
    for i, (label, points) in enumerate(series):
        colour = CALLS[i % len(CALLS)]
        dash = '5 4' if label in dashed else ''
        for (x1, y1), (x2, y2) in zip(points, points[1:]):
            drawing.line(x_of(x1), y_of(y1), x_of(x2), y_of(y2), colour, 1.8, dash)
        for x, y in points if marks else ():
            drawing.rect(x_of(x) - 2, y_of(y) - 2, 4, 4, colour, f'{x:g}: {seconds(y)}')
        drawing.line(left + i * 150, top + height + 56, left + 26 + i * 150, top + height + 56, colour, 2.5, dash)
        drawing.text(left + 32 + i * 150, top + height + 60, label)
    drawing.line(left, top + height, width - 20, top + height, TEXT)
    return drawing.svg()


ACTIVITIES = {'compute': COMPUTE, 'late sender': CALLS[0], 'late receiver': CALLS[1], 'messages': OTHERS, 'other': '#a9b0b6'}


def timelines(title, clocks, width=1000):
    """clocks: [(title, seconds, [[(activity, begin, end)] of a rank])], one below the other; seconds."""
    most = max(elapsed for _, elapsed, _ in clocks)
    factor, unit = scale_of(most)
    left, top, row = 70, 40, 26
    block = 34 + row * len(clocks[0][2])
    drawing = Drawing(width, top + block * len(clocks) + 62, title)
    x = lambda time: left + (width - left - 14) * time / most
    for tick in ticks(most * factor, 10):
        drawing.line(x(tick / factor), top - 6, x(tick / factor), top + block * len(clocks))
        drawing.text(x(tick / factor), top + block * len(clocks) + 16, number(tick), 'middle')
    drawing.text(left - 8, top + block * len(clocks) + 16, unit, 'end')
    drawing.text(left, 20, title, bold=True)
    y, seen = top, set()
    for name, elapsed, ranks in clocks:
        drawing.text(left, y + 12, f'{name}: {seconds(elapsed)}')
        for rank, slices in enumerate(ranks):
            at = y + 18 + row * rank
            drawing.text(left - 8, at + 15, f'rank {rank}', 'end', 11)
            for activity, begin, end in slices:
                seen.add(activity)
                drawing.rect(x(begin), at, x(end) - x(begin), row - 5, ACTIVITIES[activity],
                             f'{activity} {seconds(end - begin)}')
        drawing.line(x(elapsed), y + 4, x(elapsed), y + 14 + row * len(ranks), TEXT, 1, '3 2')
        y += block
    for i, activity in enumerate(name for name in ACTIVITIES if name in seen):
        drawing.rect(left + 160 * i, y + 34, 13, 13, ACTIVITIES[activity], stroke=OTHERS)
        drawing.text(left + 18 + 160 * i, y + 45, activity)
    return drawing.svg()
