"""Compares the METRIC records of an archive, summed by python3-otf2, with what the program saw itself.

trace_counters.py ARCHIVE JUDGE [THREAD]: JUDGE has the program's lines. THREAD: the number of the thread that worked.
Prints for each rank "RANK METRIC PROGRAM MPI".
"""

import sys

import otf2
from otf2.events import Enter, Leave, Metric

archive, judge = sys.argv[1:3]
thread = int(sys.argv[3]) if len(sys.argv) > 3 else 0
# Sums by location: outside MPI, inside.
sums = {}
with otf2.reader.open(archive + '/traces.otf2') as trace:
    names = [member.name for member in trace.definitions.metric_members]
    for member in trace.definitions.metric_members:
        assert member.metric_mode == otf2.MetricMode.ACCUMULATED_START, member
    for definition in trace.definitions.metric_classes:
        assert definition.occurrence == otf2.MetricOccurrence.SYNCHRONOUS_STRICT
    last, depth, number = {}, {}, {}
    ids = {}
    for location in trace.definitions.locations:
        rank = int(location.group.name.split()[-1])
        ids[location] = (rank, sum(1 for other in ids.values() if other[0] == rank))
    due = set()
    for location, event in trace.events:
        key = ids[location]
        if isinstance(event, Metric):
            both = sums.setdefault(key, [[0] * len(names), [0] * len(names)])
            before = last.get(key, event.values)
            for i, value in enumerate(event.values):
                assert value >= before[i], 'a counter runs backwards'
                both[depth.get(key, 0) > 0][i] += value - before[i]
            last[key] = list(event.values)
            due.add(key)
        elif isinstance(event, (Enter, Leave)):
            assert key in due, 'no METRIC before an ENTER or LEAVE'
            due.discard(key)
            depth[key] = depth.get(key, 0) + (1 if isinstance(event, Enter) else -1)

for line in open(judge):
    words = line.split()
    if not words or words[0] != 'judge':
        continue
    rank, faults, switches, nanoseconds, received = (float(word) for word in words[1:5] + words[6:])
    program, mpi = sums[int(rank), thread]
    for i, name in enumerate(names):
        print(int(rank), name, program[i], mpi[i])
        found = program[i]
        if 'FAULTS' in name:
            # The first call of a function maps its page, and the program prints a line: some dozens.
            assert faults <= found <= faults + 60, (line, name, found)
            assert received >= 256 and received <= mpi[i] <= received + 400, (line, name, mpi[i])
        elif 'SWITCHES' in name:
            # Outside of the stretches that the program judges it may lose its core, too.
            assert switches <= found <= switches * 1.5 + 10, (line, name, found)
        else:
            # Calls outside of the stretches that the program judges take some time, too.
            assert nanoseconds * 0.98 <= found <= nanoseconds * 1.3 + 2e6, (line, name, found)
