#!/usr/bin/env python3
"""Latency and bandwidth of Bandela's formula for a platform file: line.py FILE.toml

T(n) = latency + n / bandwidth through the times of 8 B and 1 MiB between two ranks, with the processor times of
sender and receiver, on the farthest level of the file.
"""
import re
import sys
import tomllib

FACTORS = {'ns': 1e-9, 'us': 1e-6, 'ms': 1e-3, 's': 1, 'B': 1, 'KiB': 2**10, 'MiB': 2**20, 'GiB': 2**30, 'kB': 1e3,
           'MB': 1e6, 'GB': 1e9, 'TB': 1e12}


def quantity(text):
    """In seconds, bytes, or bytes per second."""
    if text == 'inf':
        return float('inf')
    number, unit = re.fullmatch(r'([-+.0-9e]+)\s*([A-Za-z]+)(?:/s)?', text).groups()
    return float(number) * FACTORS[unit]


def time_of(curve, size):
    """Seconds of `size` bytes by a platform file's curve: absent, a time, or segments."""
    if curve is None:
        return 0
    if isinstance(curve, str):
        return quantity(curve)
    segment = [one for one in curve if quantity(one.get('from', '0B')) <= size][-1]
    if 'time' in segment:  # at `from`
        return quantity(segment['time']) + (size - quantity(segment['from'])) / quantity(segment['bandwidth'])
    return quantity(segment['latency']) + size / quantity(segment['bandwidth'])


def main(path):
    with open(path, 'rb') as file:
        levels = tomllib.load(file)['level']
    level = next(levels[name] for name in ('network', 'node', 'socket') if name in levels)
    if 'transfer' not in level:
        raise SystemExit(f'bandela: {path}: give -l and -b: this file has points, not segments')
    short, long = (sum(time_of(level.get(key), size) for key in ('send_overhead', 'transfer', 'receive_overhead'))
                   for size in (8, 2**20))
    bandwidth = (2**20 - 8) / (long - short)
    print(f'{(short - 8 / bandwidth) * 1e9:.1f}ns {bandwidth / 1e9:.3f}GB/s')


if __name__ == '__main__':
    main(sys.argv[1])
