#!/usr/bin/python3
"""An archive that says that its ranks had to share cores: `rubato info` and `rubato replay` repeat it.

Called with the build directory. The archive is written with python3-otf2: two ranks of one second on a
node of one core.
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import otf2
    from otf2.enums import LocationGroupType, LocationType, Type
except ImportError:
    print("SKIP: there is no python3-otf2")
    sys.exit(77)

rubato = pathlib.Path(sys.argv[1]) / "bin" / "rubato"


def write(path, switches):
    with otf2.writer.open(str(path), timer_resolution=1000) as trace:
        definitions = trace.definitions
        machine = definitions.system_tree_node("machine", class_name="machine")
        node = definitions.system_tree_node("n0", class_name="node", parent=machine)
        region = definitions.region("work", paradigm=otf2.Paradigm.USER)
        locations = []
        for rank in range(2):
            group = definitions.location_group(f"MPI Rank {rank}", system_tree_parent=node,
                                               location_group_type=LocationGroupType.PROCESS)
            locations.append(definitions.location("Master thread", group=group, type=LocationType.CPU_THREAD))
            for name, value in (("RUBATO::AFFINITY_CORES", "1"), ("RUBATO::CORES_ON_NODE", "1")):
                definitions.location_group_property(group, name, Type.STRING, value)
            definitions.location_property(locations[-1], "RUBATO::INVOLUNTARY_SWITCHES", Type.STRING,
                                          str(switches[rank]))
        for location in locations:
            writer = trace.event_writer_from_location(location)
            writer.enter(0, region)
            writer.leave(1000, region)
    return path / "traces.otf2"


with tempfile.TemporaryDirectory() as directory:
    anchor = write(pathlib.Path(directory) / "crowded", (3, 40))
    for command in ("info", "replay"):
        run = subprocess.run([rubato, command, anchor], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        text = " ".join(run.stdout.split())
        sentence = ("2 ranks had 1 core on node 'n0'; 1 of 2 ranks had more than 10 involuntary context switches per "
                    "second (rank 1: 40): the recorded times include time without a core")
        assert sentence in text, run.stdout
print("PASS shared_cores")
