#!/usr/bin/env python3
"""How many repetitions of a call are enough, predicted from a few before it is measured, as ReproMPI's benchmark does
(mpibenchmarkPredNreps): repetitions are added in steps until a measure of their spread is below a threshold.

repetitions.py FILE.csv [--rule METHOD=THRESHOLD[:WINDOW]]... [--least N] [--step N]

FILE.csv has single observations: of share/papers/reprompi, or of `rubato calibrate --raw`. Of each function and length
the first launch is looked at. Methods:

  rse         relative standard error of the mean: standard deviation / sqrt(n) / mean
  cov_mean    coefficient of variation (standard deviation / mean) of the means at the last WINDOW steps
  cov_median  the same of the medians

Default: rse=0.025, cov_mean=0.01:10 and cov_median=0.01:10, each by itself; 20 repetitions, and then 10 more each time.
The last column is the number at which all of them hold. "-": more than there are observations; a rule with a WINDOW
needs LEAST + (WINDOW - 1) STEP of them, 110 by default.
"""
import argparse
import csv
import math
import statistics
import sys

METHODS = ('rse', 'cov_mean', 'cov_median')
DEFAULT = (('rse', 0.025, 0), ('cov_mean', 0.01, 10), ('cov_median', 0.01, 10))
LEAST, STEP = 20, 10


def variation(values):
    """Coefficient of variation; of one value none is known."""
    return statistics.stdev(values) / statistics.mean(values) if len(values) > 1 else math.inf


def relative_standard_error(values):
    return variation(values) / math.sqrt(len(values))


def holds(rule, looks):
    """Whether a rule (method, threshold, window) holds after the last of the looks, which are longer and longer
    beginnings of the observations."""
    method, threshold, window = rule
    if method == 'rse':
        return relative_standard_error(looks[-1]) <= threshold
    if len(looks) < window:
        return False
    middle = statistics.mean if method == 'cov_mean' else statistics.median
    return variation([middle(look) for look in looks[-window:]]) <= threshold


def predict(values, rules, least=LEAST, step=STEP):
    """The least number of `values`, of least, least + step, ..., after which all rules hold; None if they never do."""
    looks = []
    for count in range(least, len(values) + 1, step):
        looks.append(values[:count])
        if all(holds(rule, looks) for rule in rules):
            return count
    return None


def read(path):
    """{(level, function, processes, bytes): {launch: [seconds]}}, in the order of the file."""
    cells = {}
    with open(path) as file:
        reader = csv.reader(file)
        try:
            rows = [(reader.line_num, row) for row in reader if row and not row[0].startswith('#')]
        except csv.Error as error:
            raise ValueError(f'{path}:{reader.line_num}: {error}') from None
    head = rows[0][1] if rows else []
    if 'seconds_min' in head and 'began' not in head:
        raise ValueError(f'{path}: these are samples; single observations are needed, as of rubato calibrate --raw')
    seconds = 'seconds' if 'seconds' in head else 'seconds_median'
    lacking = [name for name in ('pattern', 'processes', 'bytes', 'launch', seconds) if name not in head]
    if lacking:
        raise ValueError(f'{path}: no column {lacking[0]}; single observations are needed, as of rubato calibrate --raw')
    at = {name: head.index(name) for name in ('pattern', 'processes', 'bytes', 'launch', seconds)}
    for line, row in rows:
        if row == head:  # each launch has one
            continue
        try:
            level = row[head.index('level')] if 'level' in head else ''
            key = level, row[at['pattern']], int(row[at['processes']] or 2), int(row[at['bytes']])
            launch, time = int(row[at['launch']]), float(row[at[seconds]])
        except (IndexError, ValueError):
            raise ValueError(f'{path}:{line}: a row needs {", ".join(at)}, with numbers') from None
        if not 0 < time < math.inf:
            raise ValueError(f'{path}:{line}: {time} seconds')
        cells.setdefault(key, {}).setdefault(launch, []).append(time)
    return cells


def rule_of(word):
    """METHOD=THRESHOLD[:WINDOW]"""
    try:
        method, numbers = word.split('=')
        threshold, _, window = numbers.partition(':')
        rule = method, float(threshold), int(window or 10)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{word}' is no METHOD=THRESHOLD[:WINDOW]") from None
    if method not in METHODS:
        raise argparse.ArgumentTypeError(f"'{method}' is none of {', '.join(METHODS)}")
    if not rule[1] > 0 or rule[2] < 2:
        raise argparse.ArgumentTypeError(f"'{word}': a threshold is above 0, a window 2 at least")
    return rule


def text_of(rule):
    method, threshold, window = rule
    return f'{method} {100 * threshold:g} %' + ('' if method == 'rse' else f' of {window}')


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split('\n\n')[1], add_help=False)
    parser.add_argument('-h', '--help', action='store_true')
    parser.add_argument('file', nargs='?')
    parser.add_argument('--rule', action='append', type=rule_of)
    parser.add_argument('--least', type=int, default=LEAST)
    parser.add_argument('--step', type=int, default=STEP)
    options = parser.parse_args()
    if options.help:
        print(__doc__.strip())
        return
    if not options.file:
        parser.error('FILE.csv is missing')
    if options.least < 2 or options.step < 1:
        parser.error('--least: 2 at least; --step: 1 at least')
    rules = options.rule or DEFAULT
    try:
        cells = read(options.file)
    except (OSError, ValueError) as error:
        sys.exit(f'repetitions: {error}')
    names = [text_of(rule) for rule in rules] + ['all']
    print(f'{"function":26}{"p":>4}{"bytes":>10}{"of":>7}' + ''.join(f'{name:>24}' for name in names))
    for (level, function, processes, size), launches in sorted(cells.items()):
        function = f'{level} {function}'.strip()
        values = launches[min(launches)]
        found = [predict(values, [rule], options.least, options.step) for rule in rules]
        found.append(predict(values, rules, options.least, options.step))
        print(f'{function:26}{processes:>4}{size:>10}{len(values):>7}' + ''.join(f'{count or "-":>24}' for count in found))


if __name__ == '__main__':
    try:
        main()
    except BrokenPipeError:  # `| head` has seen enough
        sys.stderr.close()
