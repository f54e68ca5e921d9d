"""Checks share/papers/reprompi: its statistics on values worked out by hand, and its figures against the observations:
papers_reprompi.py statistics ROOT, or papers_reprompi.py figures ROOT OUTPUT_DIR KEYS"""
import re
import statistics
import sys
import xml.dom.minidom

WHAT, ROOT, *REST = sys.argv[1:]
sys.path.insert(0, f'{ROOT}/share/papers/reprompi.d')
sys.dont_write_bytecode = True
import observations  # noqa: E402
import repetitions  # noqa: E402


def near(a, b, tolerance=1e-9):
    assert abs(a - b) <= tolerance * max(abs(a), abs(b)), f'{a} is not {b}'


def by_hand():
    # Ten values: the quartiles lie a quarter of nine steps in, at 2.25 and 6.75 steps: 3.25 and 7.75. The range between
    # them is 4.5, so what lies outside of 3.25 - 6.75 = -3.5 and 7.75 + 6.75 = 14.5 goes: 100.
    values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 100]
    assert observations.quartiles(values) == (3.25, 5.5, 7.75), observations.quartiles(values)
    assert observations.tukey(values) == values[:-1], observations.tukey(values)
    # 1, 3, 5: mean 3, variance (4 + 0 + 4) / 2 = 4; half the interval is 1.96 * 2 / sqrt(3).
    mean, half = observations.mean_interval([1, 3, 5])
    near(mean, 3)
    near(half, 3.92 / 3 ** 0.5)
    # 0, 0, 0, 4: mean 1, moments (1 + 1 + 1 + 9) / 4 = 3 and (-1 - 1 - 1 + 27) / 4 = 6: 6 / 3^1.5.
    near(observations.skewness([0, 0, 0, 4]), 6 / 27 ** 0.5)
    # Two values stand at the quarters of the normal distribution, one standard deviation off their mean.
    (low, first), (high, second) = observations.quantile_pairs([5, 1])
    near(low, -0.674489750196, 1e-9)
    near(high, 0.674489750196, 1e-9)
    assert (first, second) == (-1, 1)
    # Section 5.2: at most 0.05, 0.01, 0.001.
    assert [observations.asterisks(p) for p in (0.051, 0.05, 0.01, 0.0011, 0.001)] == ['', '*', '**', '**', '***']
    # 4, 6, 4, 6, ...: n of them, n even, have mean 5 and standard deviation sqrt(n / (n - 1)), so the relative standard
    # error is 1 / (5 sqrt(n - 1)): at most 0.05 from n = 17 on, and the next even number is 18.
    values = [4, 6] * 100
    with open('levels.csv', 'w') as file:  # one pattern on two levels: two rows of the table
        file.write('level,pattern,processes,bytes,launch,seconds\nnode,pingpong,,8,1,1e-6\nnetwork,pingpong,,8,1,5e-5\n')
    assert repetitions.read('levels.csv') == {('node', 'pingpong', 2, 8): {1: [1e-6]},
                                              ('network', 'pingpong', 2, 8): {1: [5e-5]}}
    assert repetitions.predict(values, [('rse', 0.05, 0)], 2, 2) == 18
    assert repetitions.predict(values[:16], [('rse', 0.05, 0)], 2, 2) is None
    # Means 4, 5, 14/3: two that differ by d have the standard deviation d / sqrt(2), so 0.157 of their mean, then
    # (1/3) / sqrt(2) / (29/6) = 0.0488. Medians are 4, 5, 4, 5, ...: always 0.157.
    assert repetitions.predict(values, [('cov_mean', 0.05, 2)], 1, 1) == 3
    assert repetitions.predict(values, [('cov_mean', 0.048, 2)], 1, 1) == 5  # 5 and 24/5: 0.2 / sqrt(2) / 4.9 = 0.0289
    assert repetitions.predict(values, [('cov_median', 0.05, 2)], 1, 1) is None
    # All of them: the means of even numbers of values are all 5, so the first rule decides.
    assert repetitions.predict(values, [('rse', 0.05, 0), ('cov_mean', 0.05, 2)], 2, 2) == 18


def lines(name):
    with open(f'{REST[0]}/{name}.tsv') as file:
        return [line.rstrip('\n').split('\t') for line in file][1:]


def raw(name):
    """[(bytes, launch, seconds)] without the reader that is tested."""
    found = []
    with open(f'{REST[0]}/{name}.csv') as file:
        for line in file:
            if line.startswith('node,'):
                words = line.split(',')
                found.append((int(words[2]), int(words[5]), float(words[7])))
    return found


SIZES = [2 ** i for i in range(11)]


def loops():
    rows = raw('imb')
    assert len(rows) == 2 * len(SIZES), len(rows)  # two trials, a row for each size
    for line in lines('table1'):
        values = [seconds for size, _, seconds in rows if size == int(line[0])]
        near(float(line[1]), 1e6 * min(values), 1e-2)
        near(float(line[2]), 1e6 * max(values), 1e-2)
        near(1 + float(line[3]) / 100, max(values) / min(values), 1e-4)
    assert [int(line[0]) for line in lines('table1')] == SIZES


def distributions():
    for line, name in zip(lines('figure1'), ('scan', 'allreduce')):
        values = [seconds for _, _, seconds in raw(name)]
        assert len(values) == int(line[2]) == 10000
        near(float(line[4]), statistics.median(values))
        near(float(line[7]), max(values))


def means():
    # The spread of the mean of n is 1 / sqrt(n) of that of one: 10 against 500 is sqrt(50) = 7.07, here from 500 draws.
    spreads = {int(line[0]): float(line[2]) for line in lines('figure2')}
    assert 5.5 < spreads[10] / spreads[500] < 9, spreads


def launches():
    # Two trials of two launches, three sizes.
    rows = lines('figure3')
    assert len(rows) == 3 * 4, len(rows)
    values = raw('ours')
    for size, launch, mean, _ in rows:
        of_launch = sorted(s for b, l, s in values if (b, l) == (int(size), int(launch)))
        assert len(of_launch) == 100, len(of_launch)
        assert of_launch[0] <= float(mean) <= of_launch[-1]


def over_time():
    names = [line[0] for line in lines('figure4')]
    for name in set(names):
        began = [float(line[1]) for line in lines('figure4') if line[0] == name]
        assert began == sorted(began) and began[0] >= 0, name
    assert len(set(names)) == 3


def tested():
    # With four launches of each side the least two-sided p is 2 / C(8, 4) = 2 / 70.
    for line in lines('figure10'):
        for p in line[1:]:
            assert 2 / 70 * 0.999 <= float(p) <= 1, line


def trials():
    of_loops = raw('imb')
    for name, size, count, ratio, _ in lines('figure12'):
        assert count == '2' and float(ratio) >= 1
        if name.startswith('IMB'):
            values = [seconds for b, _, seconds in of_loops if b == int(size)]
            near(float(ratio), max(values) / min(values), 1e-6)


def both_sides(name, cells):
    def check():
        rows = lines(name)
        assert len(rows) == cells, rows
        for line in rows:
            two, less, greater = map(float, line[3:6])
            near(two, min(1, 2 * min(less, greater)), 1e-6)
    return check


def neighbours():
    assert len(lines('figure9')) == 8


def predicted():
    # Six lengths of 500 observations: 20, 30, ... or none.
    rows = lines('experimentnrep')
    assert [int(line[0]) for line in rows] == [8, 64, 512, 4096, 32768, 262144], rows
    for line in rows:
        assert line[1] == '500', line
        assert all(count == '-' or 20 <= int(count) <= 500 and int(count) % 10 == 0 for count in line[2:]), line


def clocks():
    # Four ranks, whose clocks run 20 ppm each faster than the one before: 60 us a second without correction.
    rows = lines('experimentclocks')
    assert [row[0] for row in rows[::7]] == ['none', 'jk', 'hca', 'hca2', 'hca3'], rows
    begin, *_, end = [(float(row[2]), float(row[3])) for row in rows[:7]]
    if begin[1] < 100:  # else the ranks had no core when the offset was measured
        near(end[1] - begin[1], 60 * end[0], 0.5)
    assert all(float(row[4]) <= float(row[3]) <= float(row[5]) for row in rows)
    # A method with drift correction is closer in the end, at least in its best trial, than drifting clocks.
    for first in range(7, len(rows), 7):
        seconds, least = float(rows[first + 6][2]), float(rows[first + 6][4])
        assert least < 60 * seconds, rows[first + 6]


if WHAT == 'statistics':
    by_hand()
    sys.exit()
CHECKS = {'t1': loops, '1': distributions, '2': means, '3': launches, '4': over_time, '5': both_sides('figure5', 3),
          '6': both_sides('figure6', 4), '7': both_sides('figure7', 4), '8': both_sides('figure8', 5), '9': neighbours,
          '10': tested, '11': both_sides('figure11', 8), '12': trials, 'nrep': predicted, 'clocks': clocks}
with open(f'{REST[0]}/index.html') as file:
    page = file.read()
assert not re.search('src=|href=|<script', page), 'the page loads something'
for key in REST[1].split(','):
    name = f'table{key[1:]}' if key[0] == 't' else f'experiment{key}' if key.isalpha() else f'figure{key}'
    assert f'<section id="{name}">' in page, name
    if key not in ('t1', 'nrep'):
        xml.dom.minidom.parse(f'{REST[0]}/{name}.svg')
    try:
        CHECKS[key]()
    except Exception:
        print(f'{name}:', file=sys.stderr)
        raise
