#!/usr/bin/python3
"""rubato profile reads the metrics of other tracers by their modes. Called with the build directory.

The archive is written with python3-otf2: one rank, in work() from 0 to 30 and in MPI_Barrier from 30 to 40, with the
values 5, 8, 12 at 10, 20 and 40.
 * ACCUMULATED_START is a total: 8 - 5 = 3 in work(), 12 - 8 = 4 in MPI.
 * RELATIVE_LAST is a change since the last value: 5 + 8 = 13 in work(), 12 in MPI.
 * ACCUMULATED_NEXT is the number of the next interval: 5 in work() (from 10 to 20), 8 in MPI (from 20 to 40).
 * ABSOLUTE_POINT is a gauge: minimum 5, mean 25 / 3, maximum 12. In units of 10^3: 5000, ...
 * A total that falls is a gauge, too.

The same without MPI and with a stream of a GPU: what it does not hold is said, and no efficiency follows from it.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import otf2
    from otf2.enums import LocationGroupType, LocationType, MetricMode, RecorderKind, MetricOccurrence
except ImportError:
    print("SKIP: there is no python3-otf2")
    sys.exit(77)

rubato = pathlib.Path(sys.argv[1]) / "bin" / "rubato"
MODES = {"total": MetricMode.ACCUMULATED_START, "change": MetricMode.RELATIVE_LAST,
         "next": MetricMode.ACCUMULATED_NEXT, "gauge": MetricMode.ABSOLUTE_POINT,
         "falling": MetricMode.ACCUMULATED_START}


def write(path, with_mpi=True):
    with otf2.writer.open(str(path), timer_resolution=1000) as trace:
        definitions = trace.definitions
        machine = definitions.system_tree_node("machine", class_name="machine")
        group = definitions.location_group("MPI Rank 0", system_tree_parent=machine,
                                           location_group_type=LocationGroupType.PROCESS)
        location = definitions.location("Master thread", group=group, type=LocationType.CPU_THREAD)
        work = definitions.region("work", paradigm=otf2.Paradigm.USER)
        barrier = (definitions.region("MPI_Barrier", paradigm=otf2.Paradigm.MPI) if with_mpi else
                   definitions.region("kernels", paradigm=otf2.Paradigm.USER))
        members = [definitions.metric_member(name, unit="#", metric_mode=mode, exponent=3 if name == "gauge" else 0,
                                             value_type=otf2.Type.UINT64)
                   for name, mode in MODES.items()]
        of_all = definitions.metric_class(members, occurrence=MetricOccurrence.SYNCHRONOUS,
                                          recorder_kind=RecorderKind.CPU)
        if not with_mpi:
            stream = definitions.location("stream", group=group, type=LocationType.GPU)
            kernel = trace.event_writer_from_location(stream)
            kernel.enter(1, work)
            kernel.leave(2, work)
        writer = trace.event_writer_from_location(location)
        writer.enter(0, work)
        writer.metric(10, of_all, [5, 5, 5, 5, 12])
        writer.metric(20, of_all, [8, 8, 8, 8, 8])
        writer.leave(30, work)
        writer.enter(30, barrier)
        writer.metric(40, of_all, [12, 12, 12, 12, 5])
        writer.leave(40, barrier)
    return path / "traces.otf2"


with tempfile.TemporaryDirectory() as directory:
    anchor = write(pathlib.Path(directory) / "modes")
    run = subprocess.run([rubato, "profile", anchor, "--json", "-"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    counters = json.loads(run.stdout)["counters"]
    rank = counters["ranks"][0]
    assert rank["program"] == {"total": 3, "change": 13, "next": 5}, rank
    assert rank["mpi"] == {"total": 4, "change": 12, "next": 8}, rank
    gauge = {key: rank["gauges"]["gauge"][key] for key in ("samples", "minimum", "maximum")}
    assert gauge == {"samples": 3, "minimum": 5000, "maximum": 12000}, rank
    assert abs(rank["gauges"]["gauge"]["mean"] - 25000 / 3) < 1e-6, rank
    assert "falling" in rank["gauges"], rank
    places = {place["path"]: place["ranks"][0]["counts"] for place in counters["places"]}
    assert places["work"]["total"] == 3 and places["MPI_Barrier"]["total"] == 4, places
    anchor = write(pathlib.Path(directory) / "alone", with_mpi=False)
    for command in (["info", anchor], ["replay", anchor, "--on", "measured"]):
        run = subprocess.run([rubato, *command], capture_output=True, text=True)
        said = " ".join(run.stdout.split())
        assert run.returncode == 0 and "1 GPU stream: kernels are not replayed" in said, (said, run.stderr)
    assert said.startswith("No MPI call is recorded: another network, platform or placement changes nothing."), said
    assert "gain" not in said and "%" not in said.split("Scenario")[0], said
print("PASS metric_modes")
