#!/usr/bin/env python3
"""The table of share/papers/tau: table.py EXCHANGE FILE.tsv

Medians over the repeats, and what each column is to the uninstrumented runs right before and behind it:
median, least and largest of these ratios. `workers` is the mean of all of them.
"""
import statistics
import sys

COLUMNS = ('uninstrumented', 'untraced', 'none', 'local', 'parallel')


def read(path):
    """Seconds by role, column and repeat."""
    runs = {}
    for line in list(open(path))[1:]:
        repeat, column, text = line.rstrip('\n').split('\t')
        seconds = [float(word) for word in text.split()]
        for role, value in (('master', seconds[0]), ('worker', statistics.mean(seconds[1:]))):
            runs.setdefault((role, column), {}).setdefault(repeat, []).append(value)
    return {key: {repeat: statistics.mean(values) for repeat, values in by_repeat.items()}
            for key, by_repeat in runs.items()}


def main(exchange, path):
    runs = read(path)
    print(f'exchange: {exchange}; seconds (median), ratio to uninstrumented (median, least-largest)')
    print('        ' + ''.join(f'{name:>24}' for name in COLUMNS))
    for role in ('master', 'worker'):
        plain = runs[role, 'uninstrumented']
        cells = []
        for column in COLUMNS:
            values = runs[role, column]
            cell = f'{statistics.median(values.values()):.4f}'
            if column != 'uninstrumented':
                ratios = sorted(values[repeat] / plain[repeat] for repeat in values)
                cell += f' {statistics.median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})'
            else:
                low, high = min(plain.values()), max(plain.values())
                cell += f' ({low:.3f}-{high:.3f})'
            cells.append(f'{cell:>24}')
        print(f'{role:8}' + ''.join(cells))


if __name__ == '__main__':
    main(*sys.argv[1:])
