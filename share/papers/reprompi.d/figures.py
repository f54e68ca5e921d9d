#!/usr/bin/env python3
"""ReproMPI's Table 1 and figures from the observations of share/papers/reprompi.

figures.py OUTPUT_DIR HEAD LAUNCHES OTHERS KEY...; OTHERS is yes where there are observations of two MPI libraries.
"""
import math
import os
import random
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'pictures.d'))
import charts  # noqa: E402
import page  # noqa: E402
from page import Figure  # noqa: E402
from svg import byte_size, seconds  # noqa: E402

OUT = ''
LAUNCHES = 0


def observations(name, launch=1):
    """{bytes: [(seconds since the begin, run time)]} of a launch."""
    found = {}
    with open(f'{OUT}/{name}.{launch}.obs') as file:
        for line in file:
            word, *numbers = line.split()
            if word == 'obs':
                found.setdefault(int(numbers[0]), []).append((float(numbers[1]), float(numbers[2])))
            elif word == 'mean':
                found.setdefault(int(numbers[0]), []).append((0, float(numbers[1])))
    return found


def times(name, launch=1):
    return {size: [time for _, time in rows] for size, rows in observations(name, launch).items()}


def kept(values):
    """Without outliers by Tukey's rule, as the paper's section 5.3: within 1.5 interquartile ranges of the quartiles."""
    ordered = sorted(values)
    low, high = ordered[len(ordered) // 4], ordered[3 * len(ordered) // 4]
    return [value for value in ordered if low - 1.5 * (high - low) <= value <= high + 1.5 * (high - low)]


def medians(name):
    """{bytes: [median of each launch]}"""
    found = {}
    for launch in range(1, LAUNCHES + 1):
        for size, values in times(name, launch).items():
            found.setdefault(size, []).append(statistics.median(kept(values)))
    return found


def wilcoxon(a, b):
    """Probability of ranks as apart as these if both came from one population: (two-sided, that a is less). By the normal
    approximation with ties, good from some eight values on."""
    pooled = sorted([(value, 0) for value in a] + [(value, 1) for value in b])
    ranks, ties, i = [0.0] * len(pooled), 0, 0
    while i < len(pooled):
        j = i
        while j < len(pooled) and pooled[j][0] == pooled[i][0]:
            j += 1
        for k in range(i, j):
            ranks[k] = (i + j + 1) / 2
        ties += (j - i) ** 3 - (j - i)
        i = j
    n, m = len(a), len(b)
    u = sum(rank for rank, (_, whose) in zip(ranks, pooled) if whose == 0) - n * (n + 1) / 2
    variance = n * m / 12 * ((n + m + 1) - ties / ((n + m) * (n + m - 1)))
    if variance <= 0:
        return 1.0, 0.5
    below = lambda z: 0.5 * math.erfc(-z / math.sqrt(2))
    less = below((u - n * m / 2 + 0.5) / math.sqrt(variance))
    apart = 2 * below((-abs(u - n * m / 2) + 0.5) / math.sqrt(variance))
    return min(1.0, apart), less


def asterisks(p):
    return '***' if p <= 0.001 else '**' if p <= 0.01 else '*' if p <= 0.05 else ''


def columns(lines):
    widths = [max(len(str(line[i])) for line in lines) + 3 for i in range(len(lines[0]))]
    return ''.join(''.join(str(cell).ljust(width) for cell, width in zip(line, widths)).rstrip() + '\n' for line in lines)


def as_table(lines):
    return ''.join('\t'.join(map(str, line)) + '\n' for line in lines)


def bins(values, count=30):
    """[(label, how many)] over the middle 98 %."""
    ordered = sorted(values)
    low, high = ordered[len(ordered) // 100], ordered[-1 - len(ordered) // 100]
    width = (high - low) / count or 1e-12
    counts = [0] * count
    for value in ordered:
        if low <= value <= high:
            counts[min(count - 1, int((value - low) / width))] += 1
    return [(seconds(low + width * (i + 0.5)) if i % 5 == 2 else '', {'calls': n}) for i, n in enumerate(counts)]


def modes(counts):
    """Bins that are higher than their neighbours and than a tenth of the highest."""
    values = [0] + [bar['calls'] for _, bar in counts] + [0]
    return sum(values[i] > values[i - 1] and values[i] >= values[i + 1] and values[i] > max(values) / 10 for i in range(1, len(values) - 1))


def skew(values):
    mean, deviation = statistics.fmean(values), statistics.pstdev(values)
    return sum((value - mean) ** 3 for value in values) / len(values) / deviation ** 3 if deviation else 0


def table1():
    lines = [('bytes', 'min of averages', 'max of averages', 'diff')]
    differences = []
    averages = {}
    for launch in range(1, LAUNCHES + 1):
        for size, values in times('bcast', launch).items():
            averages.setdefault(size, []).append(statistics.fmean(values))
    for size, values in sorted(averages.items()):
        differences.append(max(values) / min(values) - 1)
        lines.append((size, seconds(min(values)), seconds(max(values)), f'{100 * differences[-1]:.1f} %'))
    return Figure(
        't1', f'MPI_Bcast: minimum and maximum of the averages of {LAUNCHES} launches',
        'Averages of 30 invocations of the Intel MPI Benchmarks differ by 5 to 19 %: one may conclude from two of them that '
        'one library is better than itself.',
        f'They differ by {100 * min(differences):.0f} to {100 * max(differences):.0f} %.', text=columns(lines), table=as_table(lines))


def figure1():
    pictures, words = [], []
    for name, title in (('scan', 'MPI_Scan, 10,000 B'), ('long-barrier', 'MPI_Allreduce, 1,000 B')):
        values = next(iter(times(name).values()))
        counts = bins(values)
        pictures.append(charts.histogram(title, counts, 'calls', x_label='run time of a call'))
        words.append(f'{title}: {modes(counts)} modes, skewness {skew(kept(values)):.1f} without outliers, '
                     f'{100 * (1 - len(kept(values)) / len(values)):.0f} % of {len(values)} calls are outliers')
    return Figure('1', 'Run times of single calls', 'Not normal: skewed to the right, and with several modes.',
                  '; '.join(words) + '.', svg=pictures[0], closer=pictures[1])


def figure2():
    values = kept(next(iter(times('long-barrier').values())))
    draw = random.Random(1)
    lines, found = [('sample size', 'skewness of 2000 means', 'spread (p95 - p5)')], []
    for size in (1, 10, 30, 100):
        means = [statistics.fmean(draw.choices(values, k=size)) for _ in range(2000)]
        means.sort()
        found.append(abs(skew(means)))
        lines.append((size, f'{skew(means):+.2f}', seconds(means[1900] - means[100])))
    return Figure('2', 'Means of samples of MPI_Allreduce\'s run times',
                  'Means of 10 calls are skewed still, those of 30 are nearly normal: 30 observations are enough for the '
                  'central limit theorem to hold.',
                  f'Skewness {found[0]:.2f} of single calls, {found[2]:.2f} of means of 30, {found[3]:.2f} of means of 100.',
                  text=columns(lines), table=as_table(lines))


def figure3():
    series, lines = [], [('bytes', 'launch', 'mean', 'low', 'high')]
    apart = 0
    for size in (16, 4096):
        intervals = []
        for launch in range(1, LAUNCHES + 1):
            values = kept(times('bcast', launch)[size])
            mean = statistics.fmean(values)
            half = 1.96 * statistics.stdev(values) / math.sqrt(len(values))
            intervals.append((mean - half, mean + half))
            lines.append((size, launch, f'{mean:.9g}', f'{mean - half:.9g}', f'{mean + half:.9g}'))
        series += [(f'{byte_size(size)} {word}', [(launch + 1, pair[i]) for launch, pair in enumerate(intervals)])
                   for i, word in ((1, 'high'), (0, 'low'))]
        apart += sum(a[1] < b[0] or b[1] < a[0] for i, a in enumerate(intervals) for b in intervals[i + 1:])
    pairs = LAUNCHES * (LAUNCHES - 1)
    return Figure('3', f'MPI_Bcast: 95 % intervals of the mean in {LAUNCHES} launches',
                  'Means of launches differ significantly, though all is equal: mpirun is a factor. One has to launch often.',
                  f'Of all pairs of launches {100 * apart / pairs:.0f} % have intervals that do not overlap; '
                  '5 % would, were launches alike.',
                  charts.curves('Run time, ends of the intervals', series, 'launch'), table=as_table(lines))


def figure4():
    series, words = [], []
    for name, title in (('long-barrier', 'barrier'), ('long-window', 'window')):
        rows = next(iter(observations(name).values()))
        size = max(1, len(rows) // 40)
        chunks = [rows[i:i + size] for i in range(0, len(rows) - size + 1, size)]
        median = [(chunk[0][0], statistics.median(time for _, time in chunk)) for chunk in chunks]
        series.append((f'{title}, median', median))
        series.append((f'{title}, mean', [(chunk[0][0], statistics.fmean(kept(time for _, time in chunk))) for chunk in chunks]))
        values = [value for _, value in median]
        words.append(f'{title}: medians of {size} calls from {seconds(min(values))} to {seconds(max(values))}')
    late = 1 - len(next(iter(observations('long-window').values()))) / len(next(iter(observations('long-barrier').values())))
    return Figure('4', 'MPI_Allreduce over time, behind a barrier and in windows',
                  'In windows run times grow, as clocks drift apart after they were synchronised; behind a barrier they stay, '
                  'at another level: the two do not measure the same.',
                  '; '.join(words) + f'. One node has one clock, so nothing drifts; {100 * late:.1f} % of the windows were '
                  'missed.', charts.curves('Run time', series, 'seconds', dashed=[name for name, _ in series if 'mean' in name]))


def two_sided(key, title, a, b, names, paper, factor):
    """Medians of launches by size, and Wilcoxon's test of each."""
    first, second = medians(a), medians(b)
    lines, significant = [('bytes', names[0], names[1], 'ratio', 'p', '')], 0
    for size in sorted(first):
        p, _ = wilcoxon(first[size], second[size])
        significant += p <= 0.05
        one, other = statistics.median(first[size]), statistics.median(second[size])
        lines.append((size, seconds(one), seconds(other), f'{other / one:.2f}', f'{p:.4f}', asterisks(p)))
    series = [(name, [(size, statistics.median(values)) for size, values in sorted(found.items())])
              for name, found in zip(names, (first, second))]
    return Figure(key, title, paper, f'{factor} at {significant} of {len(first)} sizes (Wilcoxon, two-sided, 5 %); ratios '
                  f'{min(line[3] for line in lines[1:])} to {max(line[3] for line in lines[1:])}.',
                  charts.curves('Median over launches of the medians', series, 'bytes', marks=True),
                  text=columns(lines), table=as_table(lines))


def figure5():
    return two_sided('5', 'A factor: ranks bound to cores, and not (figures 5 to 7)', 'bound', 'unbound', ('bound', 'not bound'),
                     'Pinning, compiler options and the processor\'s frequency each change run times of MPI_Allreduce '
                     'significantly; all of them have to be told with a result.', 'Binding makes a significant difference')


def figure8():
    return two_sided('8', 'Caches warm and cold', 'warm', 'cold', ('warm', 'cold'),
                     'Run times with cold caches are significantly longer: a benchmark has to say whether messages are in '
                     'cache.', 'Caches make a significant difference')


def figure9():
    lines, turned = [('bytes',) + tuple(f'{name} {launch}' for launch in (1, 2) for name in ('Open MPI', 'MPICH'))], 0
    found = {(name, launch): times(name, launch) for name in ('openmpi', 'mpich') for launch in (1, 2)}
    for size in sorted(found['openmpi', 1]):
        means = [statistics.fmean(found[name, launch][size]) for launch in (1, 2) for name in ('openmpi', 'mpich')]
        turned += (means[0] < means[1]) != (means[2] < means[3])
        lines.append((size,) + tuple(map(seconds, means)))
    return Figure('9', 'Two libraries by the means of one launch each, twice',
                  'By one pair of launches one library is better for some sizes, by the next pair the other one.',
                  f'The winner changes from the first pair of launches to the second at {turned} of {len(lines) - 1} sizes.',
                  text=columns(lines), table=as_table(lines))


def figure10():
    return two_sided('10', 'Two libraries by medians of launches, and Wilcoxon\'s test', 'openmpi', 'mpich', ('Open MPI', 'MPICH'),
                     'Distributions of medians over launches, with asterisks where the test says that they differ, tell real '
                     'differences from noise.', 'They differ significantly')


def figure11():
    first, second = medians('openmpi'), medians('mpich')
    lines, wins = [('bytes', 'Open MPI less: p', '', 'MPICH less: p', '')], [0, 0]
    for size in sorted(first):
        p, q = wilcoxon(first[size], second[size])[1], wilcoxon(second[size], first[size])[1]
        wins[0] += p <= 0.05
        wins[1] += q <= 0.05
        lines.append((size, f'{p:.4f}', asterisks(p), f'{q:.4f}', asterisks(q)))
    return Figure('11', 'Which one is faster: one-sided tests',
                  'The alternative "less" answers the question that one has: is library A faster?',
                  f'Open MPI is faster at {wins[0]} sizes, MPICH at {wins[1]}, of {len(first)}.', text=columns(lines), table=as_table(lines))


def figure12():
    lines, spreads = [('bytes', 'mean of a loop', 'until stable (SKaMPI)', 'medians of 3 launches')], {}
    results = {'imb': {}, 'skampi': {}, 'ours': {}}
    for trial in range(1, LAUNCHES + 1):
        for name in ('imb', 'skampi'):
            for size, values in times(name, trial).items():
                results[name].setdefault(size, []).append(values[0])
        parts = [times(f'ours-{part}', trial) for part in (1, 2, 3)]
        for size in parts[0]:
            results['ours'].setdefault(size, []).append(statistics.median(statistics.median(kept(part[size])) for part in parts))
    for size in sorted(results['imb']):
        row = []
        for name in results:
            least = min(results[name][size])
            # Normalised by the least of the trials: how far the worst is from it, and the median.
            normal = sorted(value / least for value in results[name][size])
            row.append(f'{statistics.median(normal):.2f}, at most {normal[-1]:.2f}')
            spreads.setdefault(name, []).append(statistics.median(normal) - 1)
        lines.append((size, *row))
    mean = {name: 100 * statistics.fmean(values) for name, values in spreads.items()}
    return Figure('12', f'How well three ways to measure MPI_Bcast repeat: {LAUNCHES} trials, normalised by the least',
                  'The method with several launches repeats best; means of one loop of the Intel benchmarks vary most.',
                  f'The median trial is above the least by {mean["imb"]:.0f} % (means of a loop), {mean["skampi"]:.0f} % (until '
                  f'stable), {mean["ours"]:.0f} % (medians of three launches), in the mean over sizes.',
                  text=columns(lines), table=as_table(lines))


FIGURES = {'t1': table1, '1': figure1, '2': figure2, '3': figure3, '4': figure4, '5': figure5, '8': figure8, '9': figure9,
           '10': figure10, '11': figure11, '12': figure12}


def main(out, head, launches, others, keys):
    global OUT, LAUNCHES
    OUT, LAUNCHES = out, int(launches)
    if others != 'yes':
        keys = [key for key in keys if key not in ('9', '10', '11')]
    page.write([FIGURES[key]() for key in keys], out, 'ReproMPI\'s figures, done again', head)


if __name__ == '__main__':
    main(*sys.argv[1:5], sys.argv[5:])
