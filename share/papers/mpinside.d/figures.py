#!/usr/bin/env python3
"""Figures and Table 1 of MPInside's paper from the profiles of share/papers/mpinside: figures.py OUTPUT_DIR KEY...

OUTPUT_DIR/settings.json says what was run; KEY is the number of a figure, or t1.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'pictures.d'))
import charts  # noqa: E402
import page  # noqa: E402
import profiles  # noqa: E402
from page import Figure  # noqa: E402
from svg import byte_size, seconds  # noqa: E402

OUT = ''
SETTINGS = {}


def load(name):
    return profiles.scenarios(f'{OUT}/{name}.json')


def percent(part, whole):
    return f'{100 * part / whole:.0f} %' if whole > 0 else '0 %'


def bars_figure(key, title, panels, paper, here, most=6):
    panels, names = profiles.shown(panels, most)
    return Figure(key, title, paper, here, charts.stacked_bars(f'{title}', panels, names, width=1100),
                  table=profiles.table_of(panels, names))


def total(scenario, call, kind=None):
    """Seconds of all ranks in a call, or of its waits of a kind."""
    found = scenario['calls'].get(call)
    if found is None:
        return 0
    return found['time'] if kind is None else found['waits'][kind]


# --- The run of figure 2 ---------------------------------------------------------------------------------------------


def figure2():
    measured = load('pairs')['measured']
    ranks = measured['ranks']
    names = [name for name, call in measured['calls'].items()
             if call['sends'] + call['receives'] > 0
             or sum(rank['calls'].get(name, {}).get('outside', 0) + rank['calls'].get(name, {}).get('time', 0)
                    for rank in ranks) > 1e-3 * measured['elapsed']]
    header = ['CPU', 'Comput'] + [profiles.short(name) for name in names]

    def rows(title, cell, last):
        lines = [f'>>>> {title} <<<<', header + [name for name, _ in last]]
        for rank in ranks:
            lines.append([str(rank['rank']), f'{rank["compute"]:.4f}' if last else '-----']
                         + [cell(rank['calls'].get(name)) for name in names]
                         + [f'{rank[key]:.4f}' for _, key in last])
        return lines

    def count(key, scale=1):
        return lambda call: f'{(call[key] if call else 0) / scale:.0f}'

    # MPI_Init has no time in the window of the rank, but its own.
    lines = rows('Elapse times in (s)', lambda call: f'{call["time"] + call["outside"] if call else 0:.4f}',
                 [('overhead', 'overhead'), ('flushing', 'flushing'), ('lost core', 'lost_core')])
    lines += rows('Kbytes with Send attribute', count('bytes_sent', 1000), [])
    lines += rows('Number of requests with Send attribute', count('sends'), [])
    lines += rows('Kbytes with Recv attribute', count('bytes_received', 1000), [])
    lines += rows('Number of requests with Recv attribute', count('receives'), [])
    text = ''.join(line + '\n' if isinstance(line, str) else ''.join(f'{cell:>10}' for cell in line) + '\n' for line in lines)
    table = ''.join((line if isinstance(line, str) else '\t'.join(line)) + '\n' for line in lines)
    return Figure(
        '2', f'The tables of a run of {len(ranks)} ranks',
        'Five tables of a 4-rank run: ranks 1 and 3 send 400,000 kB in 1000 requests to ranks 0 and 2, which receive '
        'them by irecv and wait; rank 1 is the root of 1000 broadcasts of 4 kB, for which ranks 2 and 3 wait.',
        f'The same tables of a program with the same messages ({SETTINGS["rounds"]} rounds), so sizes and requests '
        'agree. MPInside also counts calls that move nothing (init as a send, wait as a receive): here requests are '
        'requests. Flushing (of the tracer) and lost cores (ranks share them here) are columns of their own.',
        text=text, table=table)


def recorded(found):
    """What the figure takes for the measurement, in two words and as bars come: without lost cores, as if each rank had
    one, where ranks lost them."""
    if profiles.lost_share(found['measured']) > 0.02:
        return 'undisturbed', found['undisturbed']
    return 'measured', found['measured']


def figure3():
    found = load('pairs')
    measured = found['measured']
    mpi = sum(rank['mpi'] for rank in measured['ranks'])
    window = measured['elapsed'] * len(measured['ranks'])
    panels = [('Measured', profiles.bars_of(measured))]
    if recorded(found)[0] != 'measured':
        panels.append(('Undisturbed', profiles.bars_of(found['undisturbed'])))
    return bars_figure(
        '3', 'The first of these tables as bars', panels,
        'The elapsed times of a run by rank and call, as a spreadsheet plots them.',
        f'The times of figure 2 (without MPI_Init, which is before the window). Each bar is {seconds(measured["elapsed"])} '
        f'high, the elapsed time; {percent(mpi, window)} of it is MPI.'
        + (f' Ranks had no core for {percent(profiles.lost_share(measured), 1)} of the time; undisturbed is the run without '
           f'that, {seconds(found["undisturbed"]["elapsed"])}.' if len(panels) > 1 else ''))


# --- Waits -----------------------------------------------------------------------------------------------------------


def figure6():
    found = load('crash')
    name, measured = recorded(found)
    perfect = found['perfect']
    call = 'MPI_Allreduce'
    all_time, wait = total(measured, call), total(measured, call, 'collective_wait')
    compute = [rank['compute'] for rank in measured['ranks']]
    return bars_figure(
        '6', 'Basic profile and collective wait: a ball hits a block (LAMMPS)',
        [('Basic profile', profiles.bars_of(measured)), ('Waits apart', profiles.bars_of(measured, True))],
        'PAM-CRASH: much of the time is in MPI_Allreduce; nearly all of that is collective wait (b_allreduce), because '
        'ranks have unequal work. The MPI_Barrier that measures it disturbs the roots of MPI_Reduce.',
        f'LAMMPS with slices of unequal work (ranks compute {seconds(min(compute))} to {seconds(max(compute))}) that agree '
        f'on each time step: {percent(wait, all_time)} of {seconds(all_time)} in MPI_Allreduce (all ranks) is b_allreduce. '
        f'Both charts are of one run: the replay knows who came last, no barrier is inserted, nothing is disturbed. '
        f'The perfect interconnect takes {seconds(perfect["elapsed"])}, {name} it is {seconds(measured["elapsed"])}'
        + (f' (measured {seconds(found["measured"]["elapsed"])}: ranks had no core for '
           f'{percent(profiles.lost_share(found["measured"]), 1)} of the time).' if name != 'measured' else '.'))


def figure8():
    measured = load('planewaves')['measured']
    wait, late = total(measured, 'MPI_Wait'), total(measured, 'MPI_Wait', 'late_sender')
    every, unaligned = total(measured, 'MPI_Allreduce'), total(measured, 'MPI_Allreduce', 'collective_wait')
    return bars_figure(
        '8', 'Basic profile and send late time: plane waves',
        [('Basic profile', profiles.bars_of(measured)), ('Waits apart', profiles.bars_of(measured, True))],
        'Paratec on 256 cores: MPI_Allreduce and MPI_Wait take most of the MPI time. Most of MPI_Allreduce is transfer, '
        'most of MPI_Wait is send late time (w_wait).',
        f'A Fourier transform in three dimensions: {percent(late, wait)} of {seconds(wait)} in MPI_Wait (all ranks) is '
        f'w_wait; {percent(unaligned, every)} of {seconds(every)} in MPI_Allreduce is b_allreduce, '
        f'the rest is transfer. {shared_cores()}')


def figure10():
    found = load('planewaves')
    measured, perfect = found['measured'], found['perfect']
    waits = [total(scenario, 'MPI_Wait') for scenario in (measured, perfect)]
    reduced = [total(scenario, 'MPI_Allreduce') for scenario in (measured, perfect)]
    computes = [rank['compute'] for rank in perfect['ranks']]
    spread = max(computes) / (sum(computes) / len(computes)) - 1
    return bars_figure(
        '10', 'Plane waves, measured and on a perfect interconnect',
        [('Measured', profiles.bars_of(measured)), ('Perfect interconnect', profiles.bars_of(perfect))],
        'On the perfect interconnect most of MPI_Allreduce disappears, and MPI_Wait is much reduced, although figure 8 '
        'calls most of it send late time: the cause is a limit of the hardware, not the balance of work.',
        f'MPI_Wait (all ranks) shrinks from {seconds(waits[0])} to {seconds(waits[1])}, MPI_Allreduce from '
        f'{seconds(reduced[0])} to {seconds(reduced[1])}. What stays is waiting for ranks that compute longer (the '
        f'longest {100 * spread:.0f} % above average in all). {shared_cores()}')


def shared_cores():
    ranks, cores = SETTINGS['waiting_ranks'], SETTINGS['cores']
    if ranks <= cores:
        return f'{ranks} ranks had {cores} cores.'
    return (f'{ranks} ranks shared {cores} cores here: the hardware that makes senders late is the processor, which '
            'they take turns on, not a network.')


# --- Virtual clocks --------------------------------------------------------------------------------------------------


def slices_of(events, begin):
    """[(activity, begin, end)] of a rank from a timeline for Perfetto; seconds after `begin`, that of the run."""
    waits = [event for event in events if event['cat'] == 'wait']
    # The tracer may flush after MPI_Finalize.
    over = min((event['ts'] for event in events if event['name'] == 'MPI_Finalize'), default=float('inf'))
    slices = []
    for event in sorted(events, key=lambda event: event['ts']):
        if event['cat'] == 'wait' or event['name'] == 'MPI_Init' or event['ts'] >= over:
            continue
        at, end = event['ts'], event['ts'] + event['dur']
        activity = {'MPI_Send': 'messages', 'MPI_Recv': 'messages', 'compute': 'compute'}.get(event['name'], 'other')
        for wait in waits:
            if event['cat'] == 'mpi' and at <= wait['ts'] < end:  # a wait begins with its call
                slices.append((wait['name'], at - begin, wait['ts'] + wait['dur'] - begin))
                at = wait['ts'] + wait['dur']
        slices.append((activity, at - begin, end - begin))
    return [(activity, at * 1e-6, end * 1e-6) for activity, at, end in slices]


def figure9():
    with open(f'{OUT}/clocks.json') as file:
        elapsed = {scenario['name']: scenario['elapsed'] for scenario in json.load(file)['scenarios']}
    with open(f'{OUT}/clocks.perfetto') as file:
        events = json.load(file)['traceEvents']
    processes = {event['args']['name']: event['pid'] for event in events if event['name'] == 'process_name'}
    titles = {'measured': 'Real clock', 'as_is': 'Model of this machine', 'cpu': 'Processors twice as fast, same interconnect',
              'net': 'Same processors, interconnect twice as fast'}
    clocks, ends = [], {}
    for key in titles:
        of_ranks = [[event for event in events if event['pid'] == processes[f'{key} · rank {rank}'] and event['ph'] == 'X']
                    for rank in range(2)]
        begin = min(event['ts'] + event['dur'] for of_rank in of_ranks for event in of_rank if event['name'] == 'MPI_Init')
        ranks = [slices_of(of_rank, begin) for of_rank in of_ranks]
        clocks.append((titles[key], elapsed[key], ranks))
        ends[key] = elapsed[key]
    table = 'clock\trank\tactivity\tfrom\tto\n'
    for title, _, ranks in clocks:
        for rank, slices in enumerate(ranks):
            for activity, begin, end in slices:
                table += f'{title}\t{rank}\t{activity}\t{begin:.9f}\t{end:.9f}\n'
    return Figure(
        '9', 'Two ranks by the real clock and by virtual clocks',
        'The principle: every event is timed by the real clock and by a virtual clock for each system. With processors '
        'twice as fast computing halves and transfers stay; with an interconnect twice as fast it is the other way round. '
        'The late time of a sender follows from the virtual times of both.',
        f'The same two systems, from a run of two ranks that exchange two messages of {SETTINGS["clocks_mib"]} MiB: '
        f'{seconds(ends["measured"])} real, {seconds(ends["cpu"])} with the faster processors, {seconds(ends["net"])} '
        f'with the faster interconnect. One clock more: this machine by its own model, {seconds(ends["as_is"])}, '
        f'shows the error of the model.',
        charts.timelines('Time in compute, transfer and waiting', clocks), table=table)


# --- LAMMPS ----------------------------------------------------------------------------------------------------------


def figure4():
    ranks = load('melt')['measured']['ranks']
    matrix = [[0] * len(ranks) for _ in ranks]
    for rank in ranks:
        for peer in rank['peers']:
            matrix[rank['rank']][peer['peer']] = peer['size']
    sent = sum(map(sum, matrix))
    pairs = sum(value > 0 for row in matrix for value in row)
    table = ''.join('\t'.join(map(str, row)) + '\n' for row in matrix)
    unit = max(1, max(map(max, matrix)))
    power = 2 ** 20 if unit >= 2 ** 20 else 2 ** 10
    return Figure(
        '4', 'Bytes sent per pair of ranks (LAMMPS)',
        'The matrix SIZE as a surface, x = sender, y = receiver: bands along the diagonal show the cyclic pattern of '
        'LAMMPS, which talks to neighbours in three dimensions.',
        f'The same matrix of {len(ranks)} ranks as a map: {byte_size(sent)} between {pairs} of '
        f'{len(ranks) * (len(ranks) - 1)} pairs, in bands as far from the diagonal as neighbours in x, y and z are; '
        'corners are the periodic boundary.',
        charts.heat_map('Bytes from x to y', matrix, 'sender', 'receiver', 'MiB' if power > 1024 else 'KiB',
                        lambda value: f'{value / power:.2g}'), table=table)


def scenario_of(ppn, ratio):
    return f'{SETTINGS["cluster"]}:ppn={ppn},dr={ratio}'


def model_figure(ppn):
    found = load('cluster')
    name, measured = recorded(found)
    perfect = found['perfect']
    panels = [('Perfect interconnect', profiles.bars_of(perfect))]
    ends = []
    for ratio in SETTINGS['ratios']:
        scenario = found[scenario_of(ppn, ratio)]
        panels.append((f'DR = {ratio}', profiles.bars_of(scenario)))
        ends.append(f'{seconds(scenario["elapsed"])} with DR = {ratio}')
    panels.append((name.capitalize(), profiles.bars_of(measured)))
    with open(f'{OUT}/fit{ppn}.json') as file:
        fitted = json.load(file)['scenarios'][0].get('degradation_ratio')
    return panels, ends, fitted


def fit_words(fitted):
    words = ('No ratio takes as long as measured' if fitted is None else
             f'A ratio of {fitted:.3g} takes as long as measured')
    ranks, cores = SETTINGS['ranks'], SETTINGS['cores']
    if ranks > cores:
        words += (f', but that is no network\'s: {ranks} ranks took turns on {cores} cores of one machine. On a cluster '
                  'that is the ratio to keep')
    return words


def figure11():
    panels, ends, fitted = model_figure(8)
    found = load('cluster')
    perfect = found['perfect']['elapsed']
    gains = [f'{found[scenario_of(8, ratio)]["elapsed"] / perfect:.1f} times as fast as DR = {ratio}' for ratio in (1, 10)]
    return bars_figure(
        '11', f'LAMMPS on a cluster with 8 ranks on each node ({SETTINGS["cluster"]})', panels,
        'LAMMPS, 256 ranks on Altix ICE, 8 on each node: a perfect interconnect would be four times as fast as measured. '
        'Models differ in the degradation ratio between nodes; about 10 fits best.',
        f'{SETTINGS["ranks"]} ranks, {SETTINGS["atoms"]} atoms: {seconds(perfect)} on a perfect interconnect, '
        + ', '.join(ends) + f'. The perfect one is {gains[0]}, {gains[1]}. {fit_words(fitted)}.')


def figure12():
    panels, ends, fitted = model_figure(4)
    found = load('cluster')
    few, many, same = (found[scenario_of(*one)]['elapsed'] for one in ((4, 2), (8, 10), (4, 10)))
    alike = ('slower: more messages leave their node (table 1)' if same > many else 'no slower')
    return bars_figure(
        '12', f'The same with 4 ranks on each node ({SETTINGS["cluster"]})', panels,
        'With 4 ranks on each node the measured time is much shorter, compute is the same, and the best fitting ratio '
        'drops from 10 to 2.',
        ', '.join(ends) + f'. With the paper\'s ratios, 2 for 4 ranks on a node and 10 for 8, it takes '
        f'{seconds(few)} instead of {seconds(many)}. With a ratio of 10 for both, 4 on a node are {alike}. '
        f'{fit_words(fitted)}.')


def table1():
    found = load('cluster')
    nodes = [found[scenario_of(ppn, SETTINGS['ratios'][0])]['nodes'] for ppn in (4, 8)]
    rows = [('Mb received from remote nodes', [f'{node[0]["bytes_received"] / 1e6:.2f}' for node in nodes]),
            ('Number of remote requests per node', [str(node[0]['receives']) for node in nodes]),
            ('Mb received, all nodes', [f'{sum(n["bytes_received"] for n in node) / 1e6:.2f}' for node in nodes]),
            ('Remote requests, all nodes', [str(sum(n['receives'] for n in node)) for node in nodes])]
    text = f'{"":38}{"PPN4":>12}{"PPN8":>12}\n' + ''.join(f'{name:38}{cells[0]:>12}{cells[1]:>12}\n' for name, cells in rows)
    table = '\tPPN4\tPPN8\n' + ''.join(f'{name}\t{cells[0]}\t{cells[1]}\n' for name, cells in rows)
    one = [node[0]['bytes_received'] for node in nodes]
    every = [sum(n['bytes_received'] for n in node) for node in nodes]
    return Figure(
        't1', 'LAMMPS: what node 0 receives from other nodes',
        'PPN4: 533 MB in 325,581 requests; PPN8: 542 MB in 372,231. A node has slightly less to do with 4 ranks, but '
        'there are twice as many nodes, so far more leaves its node in all.',
        f'Node 0 receives {byte_size(one[0])} with 4 ranks on it and {byte_size(one[1])} with 8; all nodes together '
        f'{byte_size(every[0])} ({len(nodes[0])} nodes) and {byte_size(every[1])} ({len(nodes[1])} nodes), '
        f'{every[0] / every[1]:.1f} times as much with 4.' if every[1] else 'All ranks are on one node.',
        text=text, table=table)


def figure13():
    rank = load('melt')['measured']['ranks'][0]
    sizes = {}
    for call in rank['calls'].values():
        for entry in call['sizes']:
            bar = sizes.setdefault(entry['size'], {'sends': 0, 'receives': 0})
            bar['sends'] += entry['sends']
            bar['receives'] += entry['receives']
    largest = max(sizes)
    classes = [0] + [2 ** i for i in range(largest.bit_length()) if 2 ** i <= largest]
    bars = [(byte_size(size), sizes.get(size, {})) for size in classes]
    requests = sum(sum(bar.values()) for bar in sizes.values())
    short = sum(sum(bar.values()) for size, bar in sizes.items() if size < 128)
    usual = max(sizes, key=lambda size: sum(sizes[size].values()))
    table = 'from\tsends\treceives\n' + ''.join(
        f'{size}\t{sizes.get(size, {}).get("sends", 0)}\t{sizes.get(size, {}).get("receives", 0)}\n' for size in classes)
    return Figure(
        '13', 'Sizes of the messages of rank 0 (LAMMPS)',
        'Most messages are shorter than 128 bytes: many small messages, not their bytes, are what the MPI engine of a '
        'node with 8 ranks is slow at.',
        f'{percent(short, requests)} of {requests} requests are shorter than 128 bytes, most often they have '
        f'{byte_size(usual)} or more: LAMMPS packs the atoms near a face into one message, 24 bytes each, and a rank has '
        f'some {SETTINGS["atoms"] // SETTINGS["ranks"]} atoms of its own. Less than 128 bytes are five atoms at most.',
        charts.histogram('Requests of rank 0 by size', bars, 'requests'), table=table)


def figure14():
    found = load('cluster')
    shared = found[f'{SETTINGS["here"]}:cpu/3']
    names = [(f'Cluster, 8 on a node, DR = {ratio}', scenario_of(8, ratio)) for ratio in (2, 10)]
    panels = [(title, [(seconds(found[name]['elapsed']), profiles.mean_bar(found[name]))]) for title, name in names]
    panels.append(('Shared memory, processors a third as fast', [(seconds(shared['elapsed']), profiles.mean_bar(shared))]))
    low, high = (found[name]['elapsed'] for _, name in names)
    verdict = ('in between' if low <= shared['elapsed'] <= high else
               'faster than either' if shared['elapsed'] < low else 'slower than either')
    return bars_figure(
        '14', 'LAMMPS on a cluster and on a shared-memory machine with slower processors (mean of ranks)', panels,
        'On Altix 4700, whose processors take three times as long for the computing part, LAMMPS is as fast as on Altix '
        'ICE: shared memory has not the bottlenecks of the InfiniBand cluster.',
        f'Both are models here: {SETTINGS["cluster"]} takes {seconds(low)} with DR = 2 and {seconds(high)} with DR = 10 '
        f'(the paper\'s ratios); this machine\'s shared memory, with processors a third as fast, takes '
        f'{seconds(shared["elapsed"])}: {verdict}.')


def figure15():
    found = load('cluster')
    here = SETTINGS['here']
    rows = [('Shared memory, processors a third as fast', found[f'{here}:cpu/3']),
            ('Shared memory', found[here]),
            ('Interconnect twice as fast', found[f'{here}:latency*0.5,bandwidth*2']),
            ('Perfect interconnect', found['perfect'])]
    panels = [(title, [(seconds(scenario['elapsed']), profiles.mean_bar(scenario))]) for title, scenario in rows]
    ends = [scenario['elapsed'] for _, scenario in rows]
    return bars_figure(
        '15', 'LAMMPS on a shared-memory machine that does not exist (mean of ranks)', panels,
        'Nehalem processors with an interconnect twice as fast as NUMAlink 4 would come close to the perfect interconnect.',
        f'This machine\'s shared memory takes {seconds(ends[1])} (model), twice as fast {seconds(ends[2])}, the '
        f'perfect interconnect {seconds(ends[3])}: {percent(ends[2] - ends[3], ends[3])} more than perfect, where '
        f'the interconnect as it is takes {percent(ends[1] - ends[3], ends[3])} more.')


FIGURES = {'2': figure2, '3': figure3, '4': figure4, '6': figure6, '8': figure8, '9': figure9, '10': figure10,
           '11': figure11, '12': figure12, '13': figure13, '14': figure14, '15': figure15, 't1': table1}


def main(out, keys):
    global OUT, SETTINGS
    OUT = out
    with open(f'{out}/settings.json') as file:
        SETTINGS = json.load(file)
    page.write([FIGURES[key]() for key in keys], out, 'MPInside\'s figures, done again', SETTINGS['head'])


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])
