#!/usr/bin/python3
"""rubato info sums up the kernels of GPU streams. Called with the build directory.

The archive is written with python3-otf2, with and without MPI, in ms. Stream A, of the process:
  light 50-65; heavy 10-40; outer 70-90 with inner 75-80 in it; copy, fill, scale 91-92, 92-93, 93-94
  busy 15 + 30 + 20 + 3 = 68
Stream B, of a context of its own as Score-P has it, with kernels that overlap and one without an end:
  heavy 10-30, light 20-50; light 60-, heavy 70-80; the end of a kernel that began before the recording
  busy 40 + 20 = 60, up to the last record at 80
All: light 15 + 30 + 20 = 65 in 3, heavy 30 + 20 + 10 = 60 in 3, outer 20, inner 5, the others 1 each; 11 kernels.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import otf2
    from otf2.enums import LocationGroupType, LocationType
except ImportError:
    print("SKIP: there is no python3-otf2")
    sys.exit(77)

rubato = pathlib.Path(sys.argv[1]) / "bin" / "rubato"
A = [(10, "+heavy"), (40, "-heavy"), (50, "+light"), (65, "-light"), (70, "+outer"), (75, "+inner"), (80, "-inner"),
     (90, "-outer"), (91, "+copy"), (92, "-copy"), (92, "+fill"), (93, "-fill"), (93, "+scale"), (94, "-scale")]
B = [(5, "-outer"), (10, "+heavy"), (20, "+light"), (30, "-heavy"), (50, "-light"), (60, "+light"), (70, "+heavy"),
     (80, "-heavy")]
BY_NAME = [("light", 3, 65), ("heavy", 3, 60), ("outer", 1, 20), ("inner", 1, 5), ("copy", 1, 1), ("fill", 1, 1),
           ("scale", 1, 1)]


def write(path, with_mpi, with_streams):
    with otf2.writer.open(str(path), timer_resolution=1000) as trace:
        definitions = trace.definitions
        machine = definitions.system_tree_node("machine", class_name="machine")
        process = definitions.location_group("MPI Rank 0", system_tree_parent=machine,
                                             location_group_type=LocationGroupType.PROCESS)
        context = definitions.location_group("CUDA Context 1", system_tree_parent=machine,
                                             location_group_type=LocationGroupType.ACCELERATOR)
        main = definitions.location("Master thread", group=process, type=LocationType.CPU_THREAD)
        call = definitions.region("MPI_Barrier" if with_mpi else "work",
                                  paradigm=otf2.Paradigm.MPI if with_mpi else otf2.Paradigm.USER)
        writer = trace.event_writer_from_location(main)
        writer.enter(0, call)
        writer.leave(100, call)
        kernels = {name: definitions.region(name, paradigm=otf2.Paradigm.CUDA) for name, _, _ in BY_NAME}
        for group, records in ((process, A), (context, B)) if with_streams else ():
            stream = definitions.location("stream", group=group, type=LocationType.ACCELERATOR_STREAM)
            writer = trace.event_writer_from_location(stream)
            for time, what in records:
                (writer.enter if what[0] == "+" else writer.leave)(time, kernels[what[1:]])
    return path / "traces.otf2"


def info(*words):
    run = subprocess.run([rubato, "info", *words], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


with tempfile.TemporaryDirectory() as directory:
    for with_mpi in (True, False):
        anchor = write(pathlib.Path(directory) / f"mpi-{with_mpi}", with_mpi, True)
        found = json.loads(info(anchor, "--json"))["kernels"]
        assert (found["streams"], found["count"]) == (2, 11), found
        assert abs(found["time"] - 0.128) < 1e-9, found
        by_name = [(kernel["name"], kernel["count"], round(kernel["time"] * 1000, 6)) for kernel in found["by_name"]]
        assert by_name == BY_NAME, by_name
        said = info(anchor)
        assert "GPU streams     2, 11 kernels, 128.0 ms in all streams together\n" in said, said
        rows = [line.split() for line in said.split("\nKernel ")[1].splitlines()[1:]]
        assert rows[0][:2] == ["light", "3"] and float(rows[0][2]) == 65, rows
        assert rows[5][:3] == ["2", "others", "2"] and float(rows[5][3]) == 2 and len(rows) == 6, rows
    anchor = write(pathlib.Path(directory) / "none", True, False)
    assert json.loads(info(anchor, "--json"))["kernels"] is None
    assert "GPU" not in info(anchor) and "Kernel" not in info(anchor)
print("PASS gpu_kernels")
