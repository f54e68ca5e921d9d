#!/usr/bin/env python3
"""Figure 1 of MPInside's paper from the profile of share/papers/bandela: figure.py OUTPUT_DIR HEAD CORES ATOMS"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'pictures.d'))
import charts  # noqa: E402
import page  # noqa: E402
import profiles  # noqa: E402
from svg import seconds  # noqa: E402


def main(out, head, cores, atoms):
    found = profiles.scenarios(f'{out}/melt.json')
    model = next(name for name in found if name.startswith('bandela:'))
    measured, undisturbed, perfect = found['measured'], found['undisturbed'], found['perfect']
    ranks = len(measured['ranks'])
    panels = [(f'Bandela: {model.removeprefix("bandela:").replace(",", ", ")}', profiles.bars_of(found[model])),
              ('Bandela, perfect interconnect', profiles.bars_of(perfect)), ('Measured', profiles.bars_of(measured))]
    lost = profiles.lost_share(measured)
    if lost > 0.02:
        panels.append(('Undisturbed: without lost cores', profiles.bars_of(undisturbed)))
    panels, names = profiles.shown(panels)
    mpi = [sum(rank['mpi'] for rank in scenario['ranks']) / ranks for scenario in (found[model], perfect, measured)]
    here = (f'LAMMPS, {atoms} atoms, {ranks} ranks on {cores} cores of one machine: {seconds(found[model]["elapsed"])} by the model, '
            f'{seconds(perfect["elapsed"])} on the perfect interconnect, {seconds(measured["elapsed"])} measured. A rank is '
            f'in MPI for {seconds(mpi[0])}, {seconds(mpi[1])} and {seconds(mpi[2])} of it: waiting for others stays where '
            f'messages are free.')
    if lost > 0.02:
        here += (f' Ranks had no core for {100 * lost:.0f} % of the measured time; without that it is '
                 f'{seconds(undisturbed["elapsed"])}, and still slower than the model as long as a rank that polls keeps '
                 f'a core from one that computes.')
    # Where the measurement dwarfs the models, they are drawn once more without it.
    height = [max(sum(bar.values()) for _, bar in bars) for _, bars in panels]
    closer = charts.stacked_bars('Bandela', panels[:2], names, width=1100) if height[2] > 3 * height[0] else ''
    page.write([page.Figure(
        '1', 'Bandela: a model of the machine, a perfect interconnect, and the measurement',
        'SGI Altix 4700, 16 CPUs, an application by rank and call: Bandela\'s model of the machine (left) is like the '
        'measurement (right). On the perfect interconnect (middle) substantial MPI time is left, since calls do not '
        'come at the same time.',
        here, charts.stacked_bars('Bandela', panels, names, width=1100), table=profiles.table_of(panels, names),
        closer=closer)],
        out, 'Bandela\'s figure, done again', head)


if __name__ == '__main__':
    main(*sys.argv[1:])
