#!/usr/bin/env python3
"""Figures of mpptest's paper from what share/papers/mpptest measured: figures.py OUTPUT_DIR HEAD RANKS CORES KEY..."""
import csv
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'pictures.d'))
import charts  # noqa: E402
import page  # noqa: E402
from page import Figure  # noqa: E402
from svg import byte_size, seconds  # noqa: E402

OUT = ''
RANKS, CORES = 0, 0


def samples(name):
    """{pattern: [row]} of the level node, by length; times as numbers."""
    found = {}
    with open(f'{OUT}/{name}.csv') as file:
        for row in csv.DictReader(line for line in file if not line.startswith('#')):
            if row['level'] != 'node' or row['messages'] != '1' or not row['seconds_min']:
                continue
            numbers = {key: float(row['seconds_' + key]) for key in ('min', 'avg', 'max')}
            found.setdefault(row['pattern'], []).append({'bytes': int(row['bytes']), **numbers})
    return {pattern: sorted(rows, key=lambda row: row['bytes']) for pattern, rows in found.items()}


def pitfalls(word):
    """The numbers behind each line with that word."""
    with open(f'{OUT}/pitfalls.txt') as file:
        return [[float(part) for part in line.split()[1:]] for line in file if line.split()[:1] == [word]]


def curve(rows, key='min', longest=None):
    return [(row['bytes'], row[key]) for row in rows if longest is None or row['bytes'] <= longest]


def at(points, bytes):
    """Linearly between the neighbours."""
    before = max((point for point in points if point[0] <= bytes), default=points[0])
    after = min((point for point in points if point[0] >= bytes), default=points[-1])
    if after[0] == before[0]:
        return before[1]
    return before[1] + (after[1] - before[1]) * (bytes - before[0]) / (after[0] - before[0])


def table(series, x='bytes'):
    return f'curve\t{x}\tseconds\n' + ''.join(f'{name}\t{a:g}\t{b:.9g}\n' for name, points in series for a, b in points)


def steps(points, least=1.15):
    """Neighbouring lengths, near each other, between which the time jumps: [(before, after, factor)]."""
    return [(a[0], b[0], b[1] / a[1]) for a, b in zip(points, points[1:])
            if b[1] > least * a[1] and b[0] <= 1.25 * max(16, a[0])]


SHORT = 4096


def figure1a():
    points = curve(samples('curves')['pingpong'], longest=4 * SHORT)
    jumps = steps(points)
    told = ', '.join(f'from {a} to {b} B by {100 * (factor - 1):.0f} %' for a, b, factor in jumps[:4])
    return Figure(
        '1a', 'Discontinuous behaviour, at lengths that are chosen adaptively',
        'A sharp drop for zero bytes, steps of 128 bytes (packets), a change of protocol at 1024 bytes which comes too '
        'late, a lower slope behind it. Lengths are added where a straight line between neighbours misses the time.',
        f'{len(points)} lengths up to {byte_size(points[-1][0])}. '
        + (f'The time jumps {told}.' if jumps else 'No jump of 15 % between neighbouring lengths.')
        + f' An empty message takes {seconds(points[0][1])}, one of {byte_size(points[-1][0])} {seconds(points[-1][1])}.',
        charts.curves('Half a round trip', [('ping-pong', points)], 'bytes', marks=True), table=table([('pingpong', points)]))


def figure1b():
    found = samples('curves')
    warm, cold = curve(found['pingpong']), curve(found['pingpong_cold'])
    both = [('in cache', warm), ('not in cache', cold)]
    some = [n for n in (1024, 16384, cold[-1][0]) if n <= cold[-1][0]]
    return Figure(
        '1b', 'Data in cache and not in cache',
        'Performance is better with data in cache (dashed line), in absolute terms and in the trend: the slope is lower.',
        'Messages that walk through memory of twice the largest cache take '
        + ', '.join(f'{at(cold, n) / at(warm, n):.2f} times as long at {byte_size(n)}' for n in some) + '.',
        charts.curves('Half a round trip', both, 'bytes', dashed=('in cache',)), table=table(both))


def figure1c():
    found = samples('curves')
    blocking = curve(found['pingpong'], longest=SHORT)
    nonblocking = curve(found['pingpong_nonblocking'], longest=SHORT)
    more = [(b - at(blocking, n)) for n, b in nonblocking]
    both = [('blocking', blocking), ('nonblocking', nonblocking)]
    return Figure(
        '1c', 'The extra cost of nonblocking sends',
        'A small but measurable overhead compared with blocking calls.',
        f'MPI_Isend, MPI_Irecv and MPI_Wait instead of MPI_Send and MPI_Recv cost {seconds(abs(statistics.median(more)))} '
        f'{"more" if statistics.median(more) >= 0 else "less"} a message in the median over {len(more)} lengths, '
        f'{100 * statistics.median(more) / statistics.median(t for _, t in blocking):+.0f} %.',
        charts.curves('Half a round trip', both, 'bytes', dashed=('nonblocking',)), table=table(both))


def figure1d():
    rows = [row for row in samples('curves')['pingpong'] if row['bytes'] <= SHORT]
    three = [(name, curve(rows, key)) for name, key in (('maximum', 'max'), ('average', 'avg'), ('minimum', 'min'))]
    near = sum(row['avg'] < 1.1 * row['min'] for row in rows) / len(rows)
    worst = max(row['max'] / row['min'] for row in rows)
    return Figure(
        '1d', 'Variation: minimum, average and maximum of the loops of each length',
        'On a lightly loaded shared-memory system minimum and average are close together in most places; the maximum can '
        'be quite large.',
        f'At {100 * near:.0f} % of the lengths the average is within 10 % of the minimum, in the median it is '
        f'{statistics.median(row["avg"] / row["min"] for row in rows):.2f} times that; the largest maximum is '
        f'{worst:.0f} times the minimum.',
        charts.curves('Average of a loop, half a round trip', three, 'bytes', log_y=True), table=table(three))


def overlap():
    series, words, rows = [], [], {}
    for length, computing, whole, alone in pitfalls('overlap'):
        rows.setdefault(int(length), []).append((computing, whole, alone))
    for length, points in rows.items():
        alone = points[0][2]
        series.append((f'{byte_size(length)}', [(c / alone, w / alone) for c, w, _ in points]))
        # Where as much is computed as the exchange takes: what of the shorter of the two has disappeared.
        together = at([(c, w) for c, w, _ in points], alone)
        words.append(f'{byte_size(length)} ({seconds(alone)} alone): {100 * (2 * alone - together) / alone:.0f} %')
    most = max(x for _, points in series for x, _ in points)
    bounds = [('all hidden', [(0, 1), (1, 1), (most, most)]), ('nothing hidden', [(0, 1), (most, most + 1)])]
    return Figure(
        'o', 'Overlap of messages and computation (section 3.4)',
        'A fixed message length and a variable amount of computation measure overlap simply.',
        'A nonblocking exchange with computation between start and wait, relative to the exchange alone. Where both take '
        'equally long, so much of one is hidden by the other: ' + '; '.join(words) + '.',
        charts.curves('Time of both', series + bounds, 'computation', unit='', dashed=[name for name, _ in bounds]),
        table=table(series, 'computation'))


def patterns():
    two, many = samples('curves'), samples('many')
    lines = [('pattern', 'ranks') + tuple(byte_size(n) for n in (8, 512, 4096, 32768))]
    curves = [('ping-pong', '2', two['pingpong']), ('head-to-head', '2', two['headtohead']),
              ('others wait', str(RANKS), many['pingpong']), ('bisection', str(RANKS), many['bisection'])]
    for name, ranks, rows in curves:
        lines.append((name, ranks) + tuple(seconds(at(curve(rows), n)) for n in (8, 512, 4096, 32768)))
    rounds = pitfalls('butterfly')  # bytes, distance, all at once, one pair
    for distance in sorted({each[1] for each in rounds}):
        for name, column in ((f'butterfly, {distance:.0f}', 2), ('its pair alone', 3)):
            time = {each[0]: seconds(each[column]) for each in rounds if each[1] == distance}
            lines.append((name, str(RANKS), time.get(8, ''), '', '', time.get(32768, '')))
    text = ''.join(''.join(f'{cell:>16}' for cell in line) + '\n' for line in lines)
    slower = [together / alone for _, _, together, alone in rounds]
    factor = at(curve(many['bisection']), 32768) / at(curve(two['pingpong']), 32768)
    return Figure(
        'p', 'Ping-pong, head-to-head, bisection, butterfly, with all processes present',
        'Measuring ping-pong when the application sends head-to-head, or with two processors, or total bandwidth for that '
        'of one pair, misleads (mistakes 6, 11, 12); one system suffers from simple butterfly patterns (mistake 13).',
        f'At 32 KiB bisection of {RANKS} ranks takes {factor:.2f} times a ping-pong alone; steps of a butterfly '
        f'{min(slower):.2f} to {max(slower):.2f} times the exchange of one pair.'
        + (f' {RANKS} ranks share {CORES} cores here, which dominates.' if RANKS > CORES else ''),
        text=text, table=text)


def mistakes():
    resolution, cost = pitfalls('clock')[0]
    first = pitfalls('first')[0]
    loops = {int(numbers[0]): numbers[1:] for numbers in pitfalls('loops')}
    runs = pitfalls('run')
    pairs = {int(ranks): time for ranks, time in pitfalls('pairs')}
    truth = min(loops[1000])
    settled = statistics.median(first[10:])
    averages, minima = [run[0] for run in runs], [run[1] for run in runs]
    spread = lambda values: f'{seconds(min(values))} to {seconds(max(values))}'
    lines = [
        ('mistake', 'what it gives', 'what avoids it'),
        ('1 first communication', f'{seconds(first[0])}', f'{seconds(settled)} from the tenth on'),
        ('9 one event, clock of ' + seconds(resolution), spread(loops[1]), f'{spread(loops[1000])} (loops of 1000)'),
        ('9 clock subtracted', seconds(min(loops[1]) - cost), f'{seconds(truth)} (minimum of averages)'),
        ('a typical run of 20', spread(averages), f'{spread(minima)} (minima of averages)'),
        ('12 just two processes', ', '.join(f'{ranks}: {seconds(time)}' for ranks, time in sorted(pairs.items())),
         'as many as the program has'),
    ]
    widths = [max(len(line[i]) for line in lines) + 3 for i in range(3)]
    text = ''.join(''.join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() + '\n' for line in lines)
    shares = [(f'{trips}', {'within 5 % of the minimum': sum(x < 1.05 * truth for x in times),
                            'others': sum(x >= 1.05 * truth for x in times)}) for trips, times in sorted(loops.items())]
    return Figure(
        'm', 'Mistakes often made (section 2), beside what avoids them',
        'Forgetting the first communication, timing events that are small relative to the resolution of the clock, '
        'subtracting its cost, measuring with just two processes, taking one run for typical.',
        f'Of 200 single exchanges the longest took {max(loops[1]) / min(loops[1]):.0f} times the shortest; of 20 runs the '
        f'averages spread by {100 * (max(averages) / min(averages) - 1):.0f} %, the minima by '
        f'{100 * (max(minima) / min(minima) - 1):.0f} %.',
        charts.histogram('Averages of loops, by exchanges in the loop', shares, 'loops', x_label='exchanges in the loop'), text=text, table=text)


FIGURES = {'1a': figure1a, '1b': figure1b, '1c': figure1c, '1d': figure1d, 'o': overlap, 'p': patterns, 'm': mistakes}


def main(out, head, ranks, cores, keys):
    global OUT, RANKS, CORES
    OUT, RANKS, CORES = out, int(ranks), int(cores)
    page.write([FIGURES[key]() for key in keys], out, 'mpptest\'s figures, done again', head)


if __name__ == '__main__':
    main(*sys.argv[1:5], sys.argv[5:])
