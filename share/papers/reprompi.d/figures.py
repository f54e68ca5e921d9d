#!/usr/bin/env python3
"""Table 1, the figures and two experiments of ReproMPI's paper from the observations of share/papers/reprompi:
figures.py OUTPUT_DIR HEAD A B LAUNCHES_OF_A_TRIAL COLD_BYTES KEY...
"""
import json
import os
import random
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pictures  # noqa: E402 (it finds the pictures of all papers)
import page  # noqa: E402
import repetitions  # noqa: E402
from observations import (asterisks, mean_interval, quantile_pairs, quartiles, read, skewness, times,  # noqa: E402
                          tukey)
from page import Figure  # noqa: E402
from svg import byte_size, seconds  # noqa: E402

OUT, A, B, OF_TRIAL, COLD = '', '', '', 1, 0


def load(name):
    return read(f'{OUT}/{name}.csv')


def table(head, rows):
    return ''.join('\t'.join(map(str, row)) + '\n' for row in [head] + rows)


def one_launch(name):
    """Function, bytes and seconds of a file with one cell and one launch."""
    (key, launches), = load(name).items()
    return key[0], key[1], times(launches[min(launches)])


def medians(cells):
    """{bytes: [median of each launch without outliers]}, as `rubato compare` has them."""
    return {size: [statistics.median(tukey(times(launches[launch]))) for launch in sorted(launches)]
            for (_, size), launches in sorted(cells.items())}


def tests(name):
    """{bytes: result} of `rubato compare --json`."""
    with open(f'{OUT}/{name}.json') as file:
        return {int(cell['bytes']): cell for cell in json.load(file)['cells']}


def trial_means():
    """{benchmark: {bytes: [value of each trial]}}"""
    found = {}
    for name, file in (('IMB\'s way', 'imb'), ('SKaMPI\'s way', 'skampi')):
        found[name] = {size: [times(launches[launch])[0] for launch in sorted(launches)]
                       for (_, size), launches in sorted(load(file).items())}
    ours = medians(load('ours'))
    found['ours'] = {size: [statistics.mean(values[i:i + OF_TRIAL]) for i in range(0, len(values), OF_TRIAL)]
                     for size, values in ours.items()}
    return found


def share(part, whole):
    return f'{part} of {whole}'


# --- One benchmark, many starts --------------------------------------------------------------------------------------


def table1():
    imb = trial_means()['IMB\'s way']
    rows = []
    for size, values in imb.items():
        low, high = min(values), max(values)
        rows.append((size, f'{low * 1e6:.3f}', f'{high * 1e6:.3f}', f'{100 * (high / low - 1):.2f}'))
    text = f'{"bytes":>8}{"min(avg) µs":>14}{"max(avg) µs":>14}{"diff %":>10}\n'
    text += ''.join(f'{row[0]:>8}{row[1]:>14}{row[2]:>14}{row[3]:>10}\n' for row in rows)
    differences = sorted(float(row[3]) for row in rows)
    trials = len(next(iter(imb.values())))
    return Figure(
        't1', 'A loop of MPI_Bcast, its mean in each of some launches',
        'Intel MPI Benchmarks, 30 launches on 16 nodes: the largest mean is some 10 % above the least up to 512 bytes, '
        '2.4 % at 1024.',
        f'1000 calls in a row in each of {trials} launches, the mean over calls and ranks: the largest is '
        f'{differences[0]:.0f} to {differences[-1]:.0f} % above the least (middle: {statistics.median(differences):.0f} %).',
        text=text, table=table(('bytes', 'min_avg_us', 'max_avg_us', 'diff_percent'), rows))


def peaks(values):
    """How many separate heaps a histogram of 40 bins up to the 98th percentile has: each at least 2 % of the
    observations in a bin, with a bin of less than half of it before the next."""
    values = sorted(values)
    low, high = values[0], values[int(0.98 * (len(values) - 1))]
    counts = [0] * 40
    for value in values:
        if value <= high:
            counts[min(39, int((value - low) / ((high - low) or 1) * 40))] += 1
    found, highest, least = 0, 0, 0
    for count in counts:
        if count > highest:
            highest = count
        if highest >= 0.02 * len(values) and count < highest / 2:
            found, highest, least = found + 1, 0, count
        elif found and highest and highest < 2 * least:
            least, highest = min(least, count), 0
    return max(found, 1)


def figure1():
    parts = [one_launch(name) for name in ('scan', 'allreduce')]
    panels, words, rows = [], [], []
    for function, size, values in parts:
        panels.append((f'MPI_{function.capitalize()}, {size:,} B', [(function, values, statistics.mean(values))]))
        low, middle, high = quartiles(values)
        heaps = ('one peak', 'two peaks', 'more than two peaks')[min(peaks(values), 3) - 1]
        words.append(f'MPI_{function.capitalize()}: median {seconds(middle)}, quartiles {seconds(low)} and {seconds(high)}, '
                     f'{heaps}; mean {seconds(statistics.mean(values))}, largest {seconds(max(values))}, skewness {skewness(values):.0f}; '
                     f'{len(values) - len(tukey(values))} of {len(values)} are outliers to Tukey')
        rows.append((function, size, len(values), low, middle, high, statistics.mean(values), max(values), skewness(values)))
    svg = pictures.histograms('Observations of one launch', panels)
    return Figure(
        '1', 'Histograms of the times of single calls',
        '10,000 calls each of MPI_Scan (10,000 bytes) and MPI_Allreduce (1000 bytes): not normal; two distinct peaks, the '
        'right one much smaller.',
        '. '.join(words) + '. A normal distribution has skewness 0. Drawn up to the 98th percentile; dashed: the mean, where '
        'that is within.', svg,
        table=table(('function', 'bytes', 'count', 'q1', 'median', 'q3', 'mean', 'max', 'skewness'), rows))


def figure2():
    function, size, values = one_launch('allreduce')
    values = tukey(values)  # section 3.3: outliers are removed before anything else
    draw = random.Random(1)
    parts, rows = [], []
    for count in (10, 30, 100, 240, 500):
        means = [statistics.mean(draw.choices(values, k=count)) for _ in range(500)]
        rows.append((count, skewness(means), statistics.stdev(means) / statistics.mean(means)))
        if count in (30, 500):
            parts.append((f'means of {count}', means, quantile_pairs(means)))
    skew = {count: value for count, value, _ in rows}
    return Figure(
        '2', 'Distributions of sample means',
        '500 samples from the times of MPI_Allreduce: with 30 observations the means are not normal, with 500 they are.',
        f'500 samples each of MPI_{function.capitalize()} with {size} bytes, outliers removed: the skewness of the means is '
        + ', '.join(f'{skew[count]:.2f} for {count}' for count in (10, 30, 100, 240, 500))
        + ' (0 is symmetric; within ±0.21 it cannot be told from 0 with 500 samples). '
        + ('30 are enough here, once outliers are gone.' if abs(skew[30]) < 0.21 else '30 are not enough here, either.'),
        pictures.normality('Sample means', parts), table=table(('sample_size', 'skewness_of_means', 'relative_spread'), rows))


def figure3():
    cells = load('ours')
    panels, words, rows = [], [], []
    for size in (8, 128, 1024):
        launches = cells['bcast', size]
        points = []
        for launch in sorted(launches)[:30]:
            mean, half = mean_interval(tukey(times(launches[launch])))
            points.append((launch, mean, half))
            rows.append((size, launch, mean, half))
        means = [mean for _, mean, _ in points]
        middle = statistics.mean(means)
        apart = sum(abs(mean - middle) > half for _, mean, half in points)
        words.append(f'{byte_size(size)}: means from {seconds(min(means))} to {seconds(max(means))}, '
                     f'{100 * (max(means) / min(means) - 1):.0f} %; {share(apart, len(points))} intervals leave out the mean of all')
        panels.append((f'MPI_Bcast, {byte_size(size)}', points))
    return Figure(
        '3', 'Mean and 95 % interval of each launch',
        'The means of 30 launches differ by 3 to 5 % (1 to 2 % on a BlueGene/Q), more than their intervals: the launch is a '
        'factor of the experiment.',
        '; '.join(words) + '. With no effect of the launch about 5 % of the intervals would leave it out.',
        pictures.intervals('Means of launches', panels), table=table(('bytes', 'launch', 'mean', 'half_interval'), rows))


def figure4():
    series, words, rows = [], [], []
    names = {'drift-barrier': 'MPI_Barrier', 'drift-window': 'window on one clock', 'drift-jk': 'window on clocks by Jones and Koenig'}
    for file, name in names.items():
        (_, launches), = load(file).items()
        observations = launches[min(launches)]
        width = max(1, len(observations) // 50)
        binned = [observations[i:i + width] for i in range(0, len(observations) - width + 1, width)]
        lines = []
        for group in binned:
            kept = tukey(times(group))
            lines.append((group[0][0], statistics.mean(kept), statistics.median(kept)))
            rows.append((name, *lines[-1]))
        series.append((f'{name}, mean', [(at, mean) for at, mean, _ in lines], False))
        series.append((f'{name}, median', [(at, median) for at, _, median in lines], True))
        tenth = max(1, len(lines) // 10)
        begin = statistics.median(median for _, _, median in lines[:tenth])
        end = statistics.median(median for _, _, median in lines[-tenth:])
        words.append(f'{name}: {seconds(begin)} in the first tenth, {seconds(end)} in the last ({len(observations)} observations, '
                     f'{observations[-1][0]:.1f} s)')
    return Figure(
        '4', 'Time of MPI_Allreduce while time goes by',
        '500,000 calls, means and medians of 10,000 each: mean and median differ even without outliers; with windows on clocks '
        'synchronised by Jones and Koenig the times slowly drift apart.',
        '; '.join(words) + '. The ranks of one node read one clock, so the second curve has no error of clocks: what the third '
        'has beyond it is that of the estimated line. A call that a rank began late, since its core was taken, '
        'is left out: of all calls the first curve has every one.',
        pictures.over_time('MPI_Allreduce, 1000 B', series, 'seconds since the first'),
        table=table(('method', 'began', 'mean', 'median'), rows))


# --- Factors ---------------------------------------------------------------------------------------------------------


def sides(files):
    found = [medians(load(file)) for file in files]
    return {size: [side[size] for side in found] for size in found[0]}


def ratio_words(results, a, b):
    """What Wilcoxon's test says, in words: each size in the direction it was found."""
    parts = []
    for size, cell in results.items():
        ratio = cell['median_b'] / cell['median_a']
        stars = asterisks(cell['p_two_sided'])
        parts.append(f'{byte_size(size)}: {b} takes {ratio:.2f} × {a} ({stars or "no difference shown"})')
    return '; '.join(parts)


def rows_of(results):
    return [(size, cell['median_a'], cell['median_b'], cell['p_two_sided'], cell['p_a_faster'], cell['p_b_faster'])
            for size, cell in results.items()]


HEAD = ('bytes', 'median_a', 'median_b', 'p_two_sided', 'p_a_faster', 'p_b_faster')


def figure5():
    both, results = [load('pinned'), load('free')], tests('pinning')
    panels = []
    for key in sorted(both[0]):
        series = []
        for name, cells in zip(('pinned', 'not pinned'), both):
            values = [value for observations in cells[key].values() for value in tukey(times(observations))]
            series.append((name, values, statistics.mean(values)))
        panels.append((f'MPI_Allreduce, {byte_size(key[1])}', series))
    return Figure(
        '5', 'Factor: pinning',
        'Pinned and unpinned processes (16 × 16, MPI_Allreduce): histograms and means are clearly different.',
        ratio_words(results, 'pinned', 'not pinned') + '. With one rank per core, ranks that are not pinned move only if other programs run.',
        pictures.histograms('Pinned and not', panels, logarithmic=True), table=table(HEAD, rows_of(results)))


def figure6():
    found = sides(['compiler-O1', 'compiler-O2', 'compiler-O3'])
    one, two = tests('compiler-1-3'), tests('compiler-2-3')
    cells = [(size, values, asterisks(one[size]['p_a_faster'])) for size, values in found.items()]
    return Figure(
        '6', 'Factor: flags of the compiler',
        'MVAPICH compiled with -O3 is clearly faster than with -O1 and -O2 (MPI_Allreduce).',
        'A distribution\'s MPI is not compiled anew; the operation of MPI_Allreduce is ours (MPI_Op_create), a loop of additions '
        'compiled in three ways. Asterisks: -O3 faster than -O1. ' + ratio_words(one, '-O3', '-O1') + '. And '
        + ratio_words(two, '-O3', '-O2') + '.',
        pictures.boxes('Flags', [('MPI_Allreduce with an operation of our own', cells)], ['-O1', '-O2', '-O3']),
        table=table(HEAD, rows_of(one)))


def figure7():
    rest, busy = tests('rest'), tests('busy')
    rest = {size: rest[size] for size in busy}
    panels = [(name, [(size, [cell['a'], cell['b']], asterisks(cell['p_two_sided'])) for size, cell in results.items()])
              for name, results in (('as it is', rest), ('a busy process on each core', busy))]
    turned = [size for size in rest if (rest[size]['median_b'] > rest[size]['median_a'])
              != (busy[size]['median_b'] > busy[size]['median_a'])
              and max(rest[size]['p_two_sided'], busy[size]['p_two_sided']) <= 0.05]
    return Figure(
        '7', 'Factor: the speed of cores',
        'At 2.3 GHz MVAPICH is faster than NEC MPI up to 1 KiB, at 0.8 GHz NEC MPI is faster everywhere: which library is '
        'better depends on the factor.',
        'A frequency cannot be set on virtual cores; a busy process on each core takes its place. As it is, '
        + ratio_words(rest, A, B) + '. With busy cores, ' + ratio_words(busy, A, B) + '. '
        + (f'The order turns, with significance, at {", ".join(map(byte_size, turned))}.' if turned else
           'Nowhere does the order turn with significance on both sides.'),
        pictures.boxes('Cores', panels, [A, B]), table=table(HEAD, rows_of(busy)))


def figure8():
    found, results = sides(['warm', 'cold']), tests('cache')
    cells = [(size, values, asterisks(results[size]['p_a_faster'])) for size, values in found.items()]
    return Figure(
        '8', 'Factor: warm and cold caches',
        'Overwriting a buffer of the size of the cache that a core has to itself makes MPI_Allreduce significantly slower.',
        f'{byte_size(COLD)} are overwritten before each call. ' + ratio_words(results, 'warm', 'cold')
        + '. Asterisks: warm is faster.',
        pictures.boxes('Caches', [('MPI_Allreduce', cells)], ['warm', 'cold']), table=table(HEAD, rows_of(results)))


# --- Comparisons -----------------------------------------------------------------------------------------------------


def figure9():
    both = [load('a'), load('b')]
    launches = sorted(next(iter(both[0].values())))
    means = {launch: {key[1]: [statistics.mean(tukey(times(cells[key][launch]))) for cells in both] for key in sorted(both[0])}
             for launch in launches}

    def winners(launch):
        return [pair[0] < pair[1] for pair in means[launch].values()]

    # Two consecutive launches, as in a repeated measurement: the pair with the largest difference.
    first, second = max(zip(launches, launches[1:]), key=lambda pair: (
        sum(x != y for x, y in zip(winners(pair[0]), winners(pair[1]))),
        max(abs(u[0] / u[1] - v[0] / v[1]) for u, v in zip(means[pair[0]].values(), means[pair[1]].values()))))
    turned = [size for size, x, y in zip(means[first], winners(first), winners(second)) if x != y]
    ratios = [(size, means[first][size][1] / means[first][size][0], means[second][size][1] / means[second][size][0])
              for size in means[first]]
    size, one, two = max(ratios, key=lambda row: max(row[1:]) / min(row[1:]))
    return Figure(
        '9', 'Two launches, two answers',
        'Means of 1000 observations of one launch compare two libraries; another launch gives another ratio (2 bytes).',
        f'Launches {first} and {second}, of {len(launches)} the neighbours that differ most: '
        + (f'the faster library changes at {", ".join(map(byte_size, turned))}; ' if turned else
           'the faster library is the same at each size; ')
        + f'{B} over {A} at {byte_size(size)} is {one:.2f} in one and {two:.2f} in the other.',
        pictures.bars('Two launches', [(f'launch {launch}', list(means[launch].items())) for launch in (first, second)], [A, B]),
        table=table(('bytes', f'ratio_launch_{first}', f'ratio_launch_{second}'), ratios))


def figure10():
    panels, counts = [], []
    for name, words in (('ten', '10 observations'), ('libraries', 'all observations')):
        results = tests(name)
        panels.append((f'{words} in each launch', [(size, [cell['a'], cell['b']], asterisks(cell['p_two_sided']))
                                                   for size, cell in results.items()]))
        counts.append((words, sum(cell['p_two_sided'] <= 0.05 for cell in results.values()), len(results),
                       sum(cell['p_two_sided'] <= 0.001 for cell in results.values())))
    rows = [(size, tests('ten')[size]['p_two_sided'], cell['p_two_sided']) for size, cell in tests('libraries').items()]
    return Figure(
        '10', 'Comparison of two libraries with asterisks',
        '30 launches, 10 and 100 observations each: Wilcoxon\'s test tells apart what the eye cannot; with more observations '
        'the distributions of medians are narrower and more differ significantly.',
        '; '.join(f'{words}: {found} of {all_sizes} sizes differ, {strong} with ***' for words, found, all_sizes, strong in counts)
        + f'. {len(next(iter(tests("ten").values()))["a"])} launches of each; the tests are those of rubato compare.',
        pictures.boxes('Libraries', panels, [A, B], height=260), table=table(('bytes', 'p_of_ten', 'p_of_all'), rows))


def figure11():
    results = tests('libraries')
    cells = [(size, [cell['a'], cell['b']], asterisks(cell['p_a_faster'])) for size, cell in results.items()]
    faster = [size for size, cell in results.items() if cell['p_a_faster'] <= 0.05]
    slower = [size for size, cell in results.items() if cell['p_b_faster'] <= 0.05]
    neither = [size for size in results if size not in faster and size not in slower]

    def listed(found):
        return ', '.join(map(byte_size, found)) or 'no size'

    return Figure(
        '11', f'Is {A} faster than {B}?',
        'The test with "less": MVAPICH is faster than NEC MPI but for 2 and 4 KiB, where "greater" has to be tested as well.',
        f'{A} is faster at {listed(faster)}; {B} is faster at {listed(slower)}; neither is shown at {listed(neither)}. Asterisks: '
        f'{A} is faster.', pictures.boxes('Less', [('MPI_Allreduce', cells)], [A, B]), table=table(HEAD, rows_of(results)))


def figure12():
    found = trial_means()
    panels, words, rows = [], [], []
    for name, sizes in found.items():
        cells, spreads = [], []
        for size, values in sizes.items():
            least = min(values)
            cells.append((size, [[value / least for value in values]], ''))
            spreads.append(max(values) / least - 1)
            rows.append((name, size, len(values), max(values) / least, statistics.median(values)))
        panels.append((name, cells))
        words.append(f'{name}: largest over least trial {100 * min(spreads):.0f} to {100 * max(spreads):.0f} %, middle '
                     f'{100 * statistics.median(spreads):.0f} %')
    trials = len(next(iter(found['ours'].values())))
    middle = {name: statistics.median(max(values) / min(values) for values in sizes.values()) for name, sizes in found.items()}
    return Figure(
        '12', 'Reproducibility of whole benchmarks',
        '30 trials each: Intel\'s and SKaMPI\'s results vary much more for small messages than the paper\'s method, whose largest '
        'difference is below 5 %; Intel\'s times are smaller, since calls in a loop overlap.',
        f'{trials} trials each of MPI_Bcast, in turn; a trial of ours is the mean of the medians of {OF_TRIAL} launches. '
        + '; '.join(words) + f'. The steadiest is {min(middle, key=middle.get)}.',
        pictures.boxes('Trials', panels, ['over the least'], 'over the least trial', True, height=260),
        table=table(('benchmark', 'bytes', 'trials', 'largest_over_least', 'median_seconds'), rows))


# --- Before measuring ------------------------------------------------------------------------------------------------


def predicted_repetitions():
    rules = repetitions.DEFAULT
    cells = repetitions.read(f'{OUT}/pilot.csv')
    names = [repetitions.text_of(rule) for rule in rules]
    rows, misses = [], {name: [] for name in names}
    for (*_, size), launches in sorted(cells.items()):
        first = min(launches)
        counts = []
        for rule, name in zip(rules, names):
            count = repetitions.predict(launches[first], [rule])
            counts.append(count)
            # In the other launches: how far the mean of so many is from the mean of all.
            for launch in sorted(launches):
                if count and launch != first:
                    values = launches[launch]
                    misses[name].append(abs(statistics.mean(values[:count]) / statistics.mean(values) - 1))
        rows.append((size, len(launches[first]), *(count or '-' for count in counts)))
    text = f'{"bytes":>8}{"of":>7}' + ''.join(f'{name:>22}' for name in names) + '\n'
    text += ''.join(f'{row[0]:>8}{row[1]:>7}' + ''.join(f'{count:>22}' for count in row[2:]) + '\n' for row in rows)
    words = []
    for k, name in enumerate(names):
        counts = [row[2 + k] for row in rows if row[2 + k] != '-']
        never = len(rows) - len(counts)
        words.append(f'{name}: ' + (f'{min(counts)} to {max(counts)}' if counts else 'no length settles')
                     + (f', {never} of {len(rows)} lengths never' if counts and never else '')
                     + (f'; in other launches the mean of so many is within {100 * statistics.median(misses[name]):.1f} % of that '
                        f'of all in the middle, {100 * max(misses[name]):.0f} % at worst' if misses[name] else ''))
    return Figure(
        'nrep', 'Repetitions predicted before measuring',
        'The benchmark predicts, for each function and size, the number of observations from a short run: by the relative '
        'standard error of the mean, or by the coefficient of variation of the means, or medians, at its last steps.',
        'MPI_Allreduce, first launch. ' + '. '.join(words) + '.', text=text,
        table=table(('bytes', 'observations', *(rule[0] for rule in rules)), rows))


def clock_methods():
    with open(f'{OUT}/clocks.csv') as file:
        head, *lines = [line.rstrip('\n').split(',') for line in file]
    at = {name: head.index(name) for name in head}
    found = {}  # by method: {trial: [(seconds, microseconds)]}
    took = {}
    for line in lines:
        method = line[at['method']]
        found.setdefault(method, {}).setdefault(int(line[at['trial']]), []).append(
            (float(line[at['seconds']]), float(line[at['largest_error_us']])))
        took.setdefault(method, []).append(float(line[at['synchronised_in']]))
    rows, series, words = [], [], []
    for method in ('none', 'jk', 'hca', 'hca2', 'hca3'):
        trials = list(found[method].values())
        points = []
        for step in zip(*trials):
            errors = [error for _, error in step]
            seconds_since = statistics.median(since for since, _ in step)
            points.append((seconds_since, statistics.median(errors), min(errors), max(errors)))
            rows.append((method, statistics.median(took[method]), *points[-1]))
        if method != 'none':
            series.append((method.upper(), [(since, 1e-6 * error) for since, error, _, _ in points], False))
        begin, end = points[0], points[-1]
        name = 'the offset alone' if method == 'none' else method.upper()
        words.append(f'{name} ({statistics.median(took[method]):.2f} s): {begin[1]:.1f} us at once, {end[1]:.0f} us '
                     f'({end[2]:.0f} to {end[3]:.0f}) after {end[0]:.0f} s')
    return Figure(
        'clocks', 'Clock methods: how far clocks are apart after some time',
        'Clocks of nodes drift quickly, so methods that know the offset alone (SKaMPI, NBCBench) are wrong soon. JK learns the '
        'drift and takes long; HCA is as accurate and faster, HCA2 faster and less accurate than HCA.',
        f'{len(found["jk"])} trials of each method in turn, medians (and extremes): ' + '; '.join(words) + '.',
        pictures.over_time('Largest error of a rank\'s clock, medians', series, 'seconds since it was synchronised',
                           note=f'medians of {len(found["jk"])} trials'),
        table=table(('method', 'synchronised_in', 'seconds', 'median_us', 'least_us', 'largest_us'), rows))


def main(out, head, a, b, of_trial, cold, *keys):
    global OUT, A, B, OF_TRIAL, COLD
    OUT, A, B, OF_TRIAL, COLD = out, a, b, int(of_trial), int(cold)
    makers = {'t1': table1, '1': figure1, '2': figure2, '3': figure3, '4': figure4, '5': figure5, '6': figure6, '7': figure7,
              '8': figure8, '9': figure9, '10': figure10, '11': figure11, '12': figure12, 'nrep': predicted_repetitions,
              'clocks': clock_methods}
    page.write([makers[key]() for key in makers if key in keys], out, 'ReproMPI\'s figures, done again', head)


if __name__ == '__main__':
    main(*sys.argv[1:])
