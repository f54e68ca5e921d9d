#!/usr/bin/env python3
"""Howell's tables from what share/papers/howell measured: figures.py OUTPUT_DIR HEAD RANKS CORES PROGRAMS KEY..."""
import csv
import math
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'pictures.d'))
import charts  # noqa: E402
import page  # noqa: E402
import profiles  # noqa: E402
from page import Figure  # noqa: E402
from svg import seconds  # noqa: E402

OUT = ''
RANKS, CORES, PROGRAMS = 0, 0, []

# His name: ours.
MESSAGES = [('send', 'send_overhead'), ('ssend', 'pingpong_synchronous'), ('rsend', 'pingpong_ready'),
            ('recv', 'receive_overhead'), ('recvmin', 'unexpected_overhead'), ('irecv1', 'irecv'),
            ('irecv2', 'irecv_wait'), ('irecvoverlap', 'overlap'), ('sendrecv', 'headtohead'), ('pingpong', 'pingpong')]
COLLECTIVES = ['alltoall', 'gather', 'allgather', 'reduce', 'allreduce', 'bcast', 'barrier', 'scatter', 'scan']


class Formula:
    """As the calibrator prints it: "(0.44 ± 0.01) + (2.2 ± 0.1)e-4*d", microseconds, of p processes and d bytes."""

    def __init__(self, text, fit):
        self.text, self.fit = text, fit
        self.terms = []
        for number, power, factor in re.findall(r'\(?(-?[\d.]+)(?: ± [\d.]+\))?(e-?\d+)?((?:\*?(?:log\(?p\)?|p\^2|p²|p|d))*)', text):
            self.terms.append((float(number + power), factor))

    def __call__(self, p, d):
        total = 0
        for value, factor in self.terms:
            for part in re.findall(r'log\(?p\)?|p\^2|p²|p|d', factor):
                value *= {'d': d, 'p': p, 'p^2': p * p, 'p²': p * p}.get(part, math.log2(p))
            total += value
        return total * 1e-6


def formulas():
    found = {}
    with open(f'{OUT}/here.log') as file:
        for line in file:
            line = re.match(r'(?:node )?(\w+) +(\S.*?) {2,}(\S+)$', line.rstrip())
            if line and line.group(2)[0] in '(-0123456789' and '±' in line.group(2):
                found[line.group(1)] = Formula(line.group(2), line.group(3))
    return found


def plain(formula):
    """Without errors, as in his table."""
    return re.sub(r'\((-?[\d.]+) ± [\d.]+\)', r'\1', formula.text).replace('*', ' ')


def columns(lines):
    widths = [max(len(str(line[i])) for line in lines) + 2 for i in range(len(lines[0]))]
    return ''.join(''.join(str(cell).ljust(width) for cell, width in zip(line, widths)).rstrip() + '\n' for line in lines)


def as_table(lines):
    return ''.join('\t'.join(map(str, line)) + '\n' for line in lines)


def table1():
    known = formulas()
    lines = [('MPI function', 'Time (µs)', 'Q')]
    for his, ours in MESSAGES + [(name, name) for name in COLLECTIVES]:
        if ours in known:
            lines.append((his, plain(known[ours]), known[ours].fit))
    tested = [float(line[2]) for line in lines[1:] if line[2] != '-']
    told = (f'For {sum(q > 0.05 for q in tested)} of them one line fits within the spread of the launches (Q above 0.05). '
            'A small spread makes the test stricter, and changes of protocol make steps.' if tested else
            'With fewer than four launches, the goodness of fit is not known.')
    return Figure(
        't1', 'MPI functions, p processes, d bytes',
        'A table of formulas by which a network of workstations is characterised: send 5000 + 0 d, pingpong 10000 + 50 d, '
        'allreduce 9000 p + 30 d microseconds; most with a goodness of fit of 0.9 and more.',
        f'{len(lines) - 1} functions on {RANKS} ranks of shared memory. {told}' + (' With two ranks there are no terms in p.' if RANKS < 4 else ''),
        text=columns(lines), table=as_table(lines))


def samples():
    """{pattern: [(bytes, seconds)]} of level node, each the median over launches of what counts there."""
    found = {}
    with open(f'{OUT}/here.csv') as file:
        for row in csv.DictReader(line for line in file if not line.startswith('#')):
            if row['level'] == 'node' and row['seconds_min'] and row['messages'] == '1':
                found.setdefault(row['pattern'], {}).setdefault(int(row['bytes']), []).append(float(row['seconds_min']))
    return {pattern: sorted((bytes, sorted(times)[len(times) // 2]) for bytes, times in rows.items())
            for pattern, rows in found.items()}


def graphs():
    known, measured = formulas(), samples()
    pictures, table = [], 'function\tbytes\tmeasured\tformula\n'
    worst = {}
    for name in ('pingpong', 'headtohead', 'send_overhead', 'overlap'):
        if name not in known or name not in measured:
            continue
        points = measured[name]
        fit = [(bytes, known[name](RANKS, bytes)) for bytes, _ in points]
        pictures.append(charts.curves(name, [('measured', points), ('formula', fit)], 'bytes', marks=True, dashed=('formula',)))
        worst[name] = max(abs(b / a - 1) for (_, a), (_, b) in zip(points, fit) if a > 0)
        table += ''.join(f'{name}\t{x}\t{a:.9g}\t{b:.9g}\n' for (x, a), (_, b) in zip(points, fit))
    return Figure(
        'g', 'The data of these formulas and the curves',
        'Clicking on the name of a function shows a graph of the data and its fit.',
        'The largest distance of a formula from its data: ' + ', '.join(f'{name} {100 * part:.0f} %' for name, part in worst.items())
        + '.', svg=''.join(pictures[:1]), closer=''.join(pictures[1:]), table=table)


def shared(word):
    with open(f'{OUT}/memory.txt') as file:
        lines = [line.rstrip('\n').split('\t') for line in file if line.startswith(word + ' ')]
    return [(name.removeprefix(word + ' '), [float(part) for part in numbers.split()]) for name, numbers in lines]


def table2():
    found = dict(shared('shared'))
    lines = [('Microbenchmark', 'avg (ns)', 'max (ns)')]
    lines += [(name, f'{1e9 * average:.3g}', f'{1e9 * most:.3g}') for name, (average, most) in found.items()]
    ratio = lambda a, b: found[a][0] / found[b][0]
    with open(f'{OUT}/memory.txt') as file:
        threads = int(next(line for line in file if line.startswith('threads ')).split()[1])
    return Figure(
        't2', f'Shared memory, {threads} threads',
        'A workstation with two processors: it makes no difference whether a thread reads its own or its neighbour\'s '
        'memory; reads of the cache take seven times as long as writes; all at once hardly slower than one.',
        f'A neighbour\'s memory takes {ratio("read_neighbour", "read_local"):.2f} times as long to read as the own; reading '
        f'the cache {ratio("read_localcache", "write_localcache"):.2f} times as long as writing it; memory, all at once, '
        f'{ratio("allread_local", "read_local"):.2f} times as long as one alone (writes {ratio("allwrite_local", "write_local"):.2f}). '
        f'Memory takes {ratio("read_local", "read_localcache"):.0f} times as long as the cache. A lock and unlock take '
        f'{seconds(found["lock+unlock"][0])}, {seconds(found["all lock+unlock"][0])} where all threads want it; posting and '
        f'taking a semaphore {seconds(found["sem_post+sem_wait"][0])}; from one thread to the next by semaphores '
        f'{seconds(found["sem_turns"][0])}, by a condition variable {seconds(found["cond_turns"][0])}.',
        text=columns(lines), table=as_table(lines))


def table3():
    orders = [(name, numbers[0]) for name, numbers in shared('order')]
    found = dict(orders)
    lines = [('Operation', 'log10(s)', 'seconds')]
    lines += [(name, math.floor(math.log10(time) + 0.5), f'{time:.2g}') for name, time in orders]
    his = {'fopen': -1, 'fprintf (1 char)': -4, 'fclose': -2, 'rd main mem': -6, 'rd cache mem': -7,
           'wr main mem': -6, 'wr cache mem': -7, 'thr_create': -3, 'daxpy100': -4, 'daxpy1000': -3, 'daxpy10000': -2}
    faster = [his[line[0]] - line[1] for line in lines[1:] if line[0] in his]
    return Figure(
        't3', 'Orders of magnitude',
        'A SPARCstation 20: fopen -1, fprintf -4, a read of the cache -7, of memory -6, a thread -3, daxpy100 -4.',
        f'Faster by {sum(faster) / len(faster):.1f} orders of magnitude in the mean of {len(faster)} operations, a quarter of '
        f'a century later; memory by {his["rd main mem"] - next(line[1] for line in lines if line[0] == "rd main mem")} (each word in '
        f'another cache line, in an order that no prefetcher predicts). To create and join a thread takes '
        f'{seconds(found["thr_create"] + found["thr_join"])}, a process {seconds(found["fork"] + found["waitpid"])}.',
        text=columns(lines), table=as_table(lines))


def predicted(rank, known):
    """Seconds of a rank in MPI by formulas and counts alone, and what has no formula."""
    total, missing = 0, set()
    for name, call in rank['calls'].items():
        op = profiles.short(name)
        if op in ('init', 'init_thread', 'finalize'):
            continue
        if op.lstrip('i') in known and op not in ('send', 'recv'):
            d = max(call['bytes_sent'] / max(1, call['sends']), call['bytes_received'] / max(1, call['receives']))
            total += call['calls'] * known[op.lstrip('i')](RANKS, d)
        elif call['sends'] + call['receives'] > 0:
            if call['sends'] > 0:
                total += call['sends'] * known['send_overhead'](RANKS, call['bytes_sent'] / call['sends'])
            if call['receives'] > 0:
                total += call['receives'] * known['pingpong'](RANKS, call['bytes_received'] / call['receives'])
        elif call['time'] > 0.01 * rank['mpi'] and not op.startswith(('wait', 'test')):
            missing.add(name)
    return total, missing


def reverse():
    known = formulas()
    lines = [('Program', 'compute', 'MPI predicted', 'MPI recorded', 'waits of that', 'run predicted', 'recorded', 'error')]
    errors, missing = [], set()
    for program in PROGRAMS:
        ranks = profiles.scenarios(f'{OUT}/{program}.json')['undisturbed']['ranks']
        count = len(ranks)
        parts = [predicted(rank, known) for rank in ranks]
        missing = missing.union(*(names for _, names in parts))
        compute = sum(rank['compute'] + rank['overhead'] for rank in ranks) / count
        mpi = sum(rank['mpi'] for rank in ranks) / count
        waits = sum(sum(call['waits'].values()) for rank in ranks for call in rank['calls'].values() if call['waits']) / count
        whole = max(rank['compute'] + rank['overhead'] + part for rank, (part, _) in zip(ranks, parts))
        record = sum(rank['compute'] + rank['overhead'] + rank['mpi'] for rank in ranks) / count
        errors.append(whole / record - 1)
        lines.append((program, seconds(compute), seconds(sum(part for part, _ in parts) / count), seconds(mpi), seconds(waits),
                      seconds(whole), seconds(record), f'{100 * errors[-1]:+.0f} %'))
    return Figure(
        'r', f'Reverse profiling on {RANKS} ranks: programs predicted from formulas and counts alone',
        'The characterisation and the profile of calls give predictions of MPI programs (Howell 1996): counts times formulas, '
        'beside computation.',
        f'The computation of the longest rank and the formulas of its calls, relative to the recording without its overhead '
        f'and lost cores: {", ".join(line[-1] for line in lines[1:])}. '
        'Counts contain no dependencies between ranks; a replay of the same recording does.'
        + (f' Without a formula: {", ".join(sorted(missing))}.' if missing else ''),
        text=columns(lines), table=as_table(lines))


FIGURES = {'t1': table1, 'g': graphs, 't2': table2, 't3': table3, 'r': reverse}


def main(out, head, ranks, cores, programs, keys):
    global OUT, RANKS, CORES, PROGRAMS
    OUT, RANKS, CORES, PROGRAMS = out, int(ranks), int(cores), programs.split()
    page.write([FIGURES[key]() for key in keys], out, 'Howell\'s tables, done again', head)


if __name__ == '__main__':
    main(*sys.argv[1:6], sys.argv[6:])
