#!/usr/bin/python3
"""An archive with counters whose values at any time are known: counted.py DIRECTORY RANKS. Exits with 77 without
python3-otf2.

One tick is 1 ms, and the recording has 2400: each of its 240 intervals has 10. All ranks are in MPI_Init from 0 to 120,
then compute and call MPI_Wtime in turn: round k from 120 + 220 k on has 200 ticks of compute and 20 in the call. In it
rank r counts (r + 1) (k + 1) 1000 EVENTS of the program, and 7 in MPI, and is busy for 200 - 10 (r mod 20) of 200 ms (BUSY, ns).
The run, from the end of MPI_Init to the begin of MPI_Finalize, begins at 0.12 s and has 10 rounds.
"""
import pathlib
import sys

try:
    import otf2
    from otf2.enums import LocationGroupType, LocationType, MetricMode, MetricOccurrence, RecorderKind
except ImportError:
    print("skipped: there is no python3-otf2")
    sys.exit(77)

directory, ranks = pathlib.Path(sys.argv[1]), int(sys.argv[2])
with otf2.writer.open(str(directory), timer_resolution=1000) as trace:
    definitions = trace.definitions
    machine = definitions.system_tree_node("machine", class_name="machine")
    regions = {name: definitions.region(name, paradigm=otf2.Paradigm.MPI)
               for name in ("MPI_Init", "MPI_Wtime", "MPI_Finalize")}
    members = [definitions.metric_member(name, unit=unit, metric_mode=MetricMode.ACCUMULATED_START,
                                         value_type=otf2.Type.UINT64) for name, unit in (("EVENTS", "#"), ("BUSY", "ns"))]
    of_all = definitions.metric_class(members, occurrence=MetricOccurrence.SYNCHRONOUS, recorder_kind=RecorderKind.CPU)
    for rank in range(ranks):
        group = definitions.location_group(f"MPI Rank {rank}", system_tree_parent=machine,
                                           location_group_type=LocationGroupType.PROCESS)
        writer = trace.event_writer_from_location(
            definitions.location("Master thread", group=group, type=LocationType.CPU_THREAD))
        values = [0, 0]

        def call(name, begin, end):
            writer.metric(begin, of_all, values)
            writer.enter(begin, regions[name])
            values[0] += 7
            writer.metric(end, of_all, values)
            writer.leave(end, regions[name])

        call("MPI_Init", 0, 120)
        for number in range(10):
            values[0] += (rank + 1) * (number + 1) * 1000
            values[1] += (200 - 10 * (rank % 20)) * 1000000
            begin = 120 + 220 * number + 200
            call("MPI_Wtime", begin, begin + 20)
        call("MPI_Finalize", 2320, 2400)
