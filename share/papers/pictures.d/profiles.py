"""What `rubato profile --json` says, as bars by rank and call named as in MPInside's figures."""
import json

OTHER_ROWS = [('overhead', 'overhead'), ('flushing', 'flushing'), ('lost_core', 'lost core'),
              ('not_recorded', 'not recorded')]
WAITS = [('late_sender', 'w_'), ('late_receiver', 'r_'), ('collective_wait', 'b_'), ('one_sided_wait', 'o_')]


def scenarios(path):
    """By name, in the order of the file."""
    with open(path) as file:
        found = json.load(file)['scenarios']
    for scenario in found:
        if scenario['deadlock'] is not None or not scenario['ranks']:
            raise SystemExit(f'{path}: {scenario["name"]} deadlocks')
    return {scenario['name']: scenario for scenario in found}


def short(call):
    return call.removeprefix('MPI_').lower()


def bar_of(rank, split_waits):
    """Seconds of a rank by name; all of them add up to Elapsed. split_waits: b_, w_, ... apart from their calls."""
    bar = {'compute': rank['compute']}
    for name, call in rank['calls'].items():
        time = call['time']
        for kind, letter in WAITS if split_waits and call['waits'] else []:
            if call['waits'][kind] > 0:
                bar[letter + short(name)] = call['waits'][kind]
                time -= call['waits'][kind]
        if time > 0:
            bar[short(name)] = time
    for key, name in OTHER_ROWS:
        if rank[key] > 0:
            bar[name] = rank[key]
    if rank['before'] + rank['after'] > 0:
        bar['before, after'] = rank['before'] + rank['after']
    return bar


def bars_of(scenario, split_waits=False):
    return [(str(rank['rank']), bar_of(rank, split_waits)) for rank in scenario['ranks']]


def mean_bar(scenario):
    """Of all ranks."""
    mean = {}
    for _, bar in bars_of(scenario):
        for name, value in bar.items():
            mean[name] = mean.get(name, 0) + value / len(scenario['ranks'])
    return mean


def lost_share(scenario):
    """Part of the ranks' time in which they could run and had no core."""
    return sum(rank['lost_core'] for rank in scenario['ranks']) / (scenario['elapsed'] * len(scenario['ranks']) or 1)


def shown(panels, most=6):
    """The same panels with no more than `most` calls, the others in one; and the names from the bottom up: compute,
    calls, the largest first, each with its waits behind it, others, what is neither."""
    total = {}
    for _, bars in panels:
        for _, bar in bars:
            for name, value in bar.items():
                total[name] = total.get(name, 0) + value
    fixed = ['compute'] + [name for _, name in OTHER_ROWS] + ['before, after']
    calls = {}
    for name, value in total.items():
        if name not in fixed:
            call = name[2:] if name[1:2] == '_' else name
            calls[call] = calls.get(call, 0) + value
    ranked = sorted(calls, key=lambda call: -calls[call])
    whole = sum(total.values())
    kept = [call for call in ranked[:most] if calls[call] > 2e-3 * whole]
    others = ranked[len(kept):]
    if len(others) == 1:
        kept, others = ranked, []
    names = ['compute'] if 'compute' in total else []
    for call in kept:
        names += [name for name in [call] + [letter + call for _, letter in WAITS] if name in total]
    rest = f'{len(others)} others'
    names += [rest] if others else []
    names += [name for name in fixed[1:] if name in total]
    folded = []
    for title, bars in panels:
        new = []
        for label, bar in bars:
            out = {}
            for name, value in bar.items():
                out_name = name if name in names else rest
                out[out_name] = out.get(out_name, 0) + value
            new.append((label, out))
        folded.append((title, new))
    return folded, names


def table_of(panels, names):
    """Lines with tabs: the numbers of the picture."""
    lines = ['\t'.join(['chart', 'bar'] + names)]
    for title, bars in panels:
        for label, bar in bars:
            lines.append('\t'.join([title, label] + [repr(bar.get(name, 0.0)) for name in names]))
    return '\n'.join(lines) + '\n'
