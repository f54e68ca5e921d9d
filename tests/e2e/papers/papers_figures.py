"""Checks the figures of share/papers: papers_figures.py OUTPUT_DIR KEYS"""
import json
import re
import sys
import xml.dom.minidom

OUT, KEYS = sys.argv[1], sys.argv[2].split(',')


def lines(name):
    with open(f'{OUT}/{name}.tsv') as file:
        return [line.rstrip('\n').split('\t') for line in file]


def scenarios(name):
    with open(f'{OUT}/{name}.json') as file:
        return json.load(file)['scenarios']


def bars(name):
    """[(chart, bar, {name: seconds})]"""
    head, *rows = lines(name)
    return [(row[0], row[1], dict(zip(head[2:], map(float, row[2:])))) for row in rows]


def near(a, b, tolerance=1e-9):
    assert abs(a - b) <= tolerance * max(abs(a), abs(b)), f'{a} is not {b}'


def charts_add_up(figure, elapsed_of, ranks):
    """Each bar is as high as its scenario is long, so those of a chart add up to elapsed x ranks."""
    found = bars(figure)
    charts = list(dict.fromkeys(chart for chart, _, _ in found))
    assert len(charts) == len(elapsed_of), (charts, elapsed_of)
    for chart, elapsed in zip(charts, elapsed_of):
        of_chart = [bar for name, _, bar in found if name == chart]
        assert len(of_chart) == ranks, (figure, chart, len(of_chart))
        for bar in of_chart:
            near(sum(bar.values()), elapsed)
        near(sum(sum(bar.values()) for bar in of_chart), elapsed * ranks)
    return found


def measurement(found):
    """As figures take it: without lost cores where ranks lost more than 2 % of their time."""
    measured = found['measured']
    lost = sum(rank['lost_core'] for rank in measured['ranks'])
    return found['undisturbed'] if lost > 0.02 * measured['elapsed'] * len(measured['ranks']) else measured


def by_name(name):
    return {scenario['name']: scenario for scenario in scenarios(name)}


def tables():
    """Figure 2: what pairs.c sends, in kB of 1000 bytes and in requests."""
    blocks, title = {}, ''
    for row in lines('figure2'):
        if len(row) == 1:
            title = row[0].strip('<> ')
            blocks[title] = []
        else:
            blocks[title].append(row)
    expected = {'Kbytes with Send attribute': {(1, 'send'): 400000, (3, 'send'): 400000, (1, 'bcast'): 4000},
                'Number of requests with Send attribute': {(1, 'send'): 1000, (3, 'send'): 1000, (1, 'bcast'): 1000},
                'Kbytes with Recv attribute': {(0, 'irecv'): 400000, (2, 'irecv'): 400000, (0, 'bcast'): 4000,
                                               (2, 'bcast'): 4000, (3, 'bcast'): 4000},
                'Number of requests with Recv attribute': {(0, 'irecv'): 1000, (2, 'irecv'): 1000, (0, 'bcast'): 1000,
                                                           (2, 'bcast'): 1000, (3, 'bcast'): 1000}}
    for title, cells in expected.items():
        head, *rows = blocks[title]
        found = {(int(row[0]), name): int(value) for row in rows for name, value in zip(head[2:], row[2:]) if value != '0'}
        assert found == cells, (title, found)
    assert [row[0] for row in blocks['Elapse times in (s)'][1:]] == ['0', '1', '2', '3']


def first_bars():
    found = by_name('pairs')
    elapsed = [found['measured']['elapsed']]
    if measurement(found) is not found['measured']:
        elapsed.append(found['undisturbed']['elapsed'])
    charts_add_up('figure3', elapsed, 4)


def waits_apart(figure, scenario):
    """Figures 6 and 8: the second chart divides each call of the first; what it calls waits is in the profile."""
    found = charts_add_up(figure, [scenario['elapsed']] * 2, len(scenario['ranks']))
    ranks = len(scenario['ranks'])
    for (_, rank, whole), (_, other, parts) in zip(found[:ranks], found[ranks:]):
        assert rank == other
        for name, time in whole.items():
            if re.match('._', name) or name.endswith(' others'):
                continue
            near(time, sum(value for part, value in parts.items() if part == name or part[1:] == '_' + name), 1e-6)
        calls = scenario['ranks'][int(rank)]['calls']
        for part, kind in (('b_allreduce', 'collective_wait'), ('w_wait', 'late_sender')):
            if part in parts:
                call = calls['MPI_' + part[2:].capitalize()]
                near(parts[part], call['waits'][kind])


def clocks():
    """Figure 9: on processors twice as fast compute takes half as long, on the network twice as fast all of it."""
    compute = {}
    for clock, rank, activity, begin, end in lines('figure9')[1:]:
        if activity == 'compute':
            compute[clock, rank] = compute.get((clock, rank), 0) + float(end) - float(begin)
    # On each clock the run ends with its last activity, and a message that leaves rank 0 reaches rank 1 later.
    with open(f'{OUT}/clocks.json') as file:
        elapsed = {scenario['name']: scenario['elapsed'] for scenario in json.load(file)['scenarios']}
    titles = {'Real clock': 'measured', 'Model of this machine': 'as_is', 'Processors twice as fast, same interconnect': 'cpu',
              'Same processors, interconnect twice as fast': 'net'}
    for title, name in titles.items():
        rows = [line for line in lines('figure9')[1:] if line[0] == title]
        assert abs(max(float(end) for *_, end in rows) - elapsed[name]) < 1e-5, (title, elapsed[name])
        send = next(float(begin) for _, rank, activity, begin, _ in rows if rank == '0' and activity == 'messages')
        arrival = next(float(end) for _, rank, activity, _, end in rows if rank == '1' and activity == 'messages')
        assert send < arrival, (title, send, arrival)
    for rank in ('0', '1'):
        model = compute['Model of this machine', rank]
        assert abs(compute['Processors twice as fast, same interconnect', rank] / model - 0.5) < 0.01, compute
        assert abs(compute['Same processors, interconnect twice as fast', rank] / model - 1) < 0.01, compute


def matrix():
    """Figure 4: rows add up to what a rank sends in messages; LAMMPS has MPI_Send and MPI_Sendrecv."""
    rows = [list(map(int, row)) for row in lines('figure4')]
    ranks = by_name('melt')['measured']['ranks']
    assert len(rows) == len(ranks)
    for rank, row in zip(ranks, rows):
        sent = sum(rank['calls'].get(call, {'bytes_sent': 0})['bytes_sent'] for call in ('MPI_Send', 'MPI_Sendrecv'))
        assert sum(row) == sent > 0, (rank['rank'], sum(row), sent)
    return rows


def off_node():
    """Table 1: ranks lie on nodes in blocks, so the matrix says what crosses."""
    rows = matrix()
    ranks = range(len(rows))
    cells = {row[0]: row[1:] for row in lines('table1')}
    for column, ppn in enumerate((4, 8)):
        crossing = [sum(rows[i][j] for i in ranks for j in ranks if j // ppn == node != i // ppn)
                    for node in range((len(rows) + ppn - 1) // ppn)]
        assert cells['Mb received from remote nodes'][column] == f'{crossing[0] / 1e6:.2f}', (ppn, crossing, cells)
        assert cells['Mb received, all nodes'][column] == f'{sum(crossing) / 1e6:.2f}', (ppn, crossing, cells)


def histogram():
    calls = by_name('melt')['measured']['ranks'][0]['calls'].values()
    rows = [list(map(int, row)) for row in lines('figure13')[1:]]
    assert sum(row[1] for row in rows) == sum(call['sends'] for call in calls) > 0
    assert sum(row[2] for row in rows) == sum(call['receives'] for call in calls) > 0


def models(figure, ppn):
    found = by_name('cluster')
    names = ['perfect'] + [f'infiniband-qdr:ppn={ppn},dr={ratio}' for ratio in (1, 2, 5, 10, 20)]
    elapsed = [found[name]['elapsed'] for name in names] + [measurement(found)['elapsed']]
    assert min(elapsed) == elapsed[0], elapsed
    charts_add_up(figure, elapsed, 8)


def means(figure, names):
    found = by_name('cluster')
    charts_add_up(figure, [found[name]['elapsed'] for name in names], 1)


def bandela():
    found = by_name('melt')
    elapsed = [scenario['elapsed'] for scenario in found.values()]
    if measurement(found) is found['measured']:
        elapsed.pop()
    charts_add_up('figure1', elapsed, 4)


def here():
    return next(name for name in by_name('cluster') if name.endswith('here.toml'))


def planewaves():
    found = by_name('planewaves')
    charts_add_up('figure10', [found['measured']['elapsed'], found['perfect']['elapsed']], 4)


CHECKS = {
    '1': bandela, '2': tables, '3': first_bars, '4': matrix, '9': clocks, '10': planewaves, '13': histogram, 't1': off_node,
    '6': lambda: waits_apart('figure6', measurement(by_name('crash'))),
    '8': lambda: waits_apart('figure8', by_name('planewaves')['measured']),
    '11': lambda: models('figure11', 8), '12': lambda: models('figure12', 4),
    '14': lambda: means('figure14', ['infiniband-qdr:ppn=8,dr=2', 'infiniband-qdr:ppn=8,dr=10', here() + ':cpu/3']),
    '15': lambda: means('figure15', [here() + ':cpu/3', here(), here() + ':latency*0.5,bandwidth*2', 'perfect']),
}
with open(f'{OUT}/index.html') as file:
    page = file.read()
assert not re.search('src=|href=|<script', page), 'the page loads something'
for key in KEYS:
    name = f'table{key[1:]}' if key[0] == 't' else f'figure{key}'
    assert f'<section id="{name}">' in page, name
    if key not in ('2', 't1'):
        xml.dom.minidom.parse(f'{OUT}/{name}.svg')
    try:
        CHECKS[key]()
    except Exception:
        print(f'{name}:', file=sys.stderr)
        raise
