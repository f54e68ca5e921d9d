#!/usr/bin/python3
"""rubato advise: every command that it prints runs as printed and gives the saving; text, JSON and CSV say the same.

    advice.py RUBATO [ARCHIVE [SCENARIO]]...    further archives, by hand; each with a scenario
"""
import csv
import io
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

rubato = pathlib.Path(sys.argv[1]).resolve()
directory = tempfile.TemporaryDirectory()
here = pathlib.Path(directory.name)
path = {**os.environ, "PATH": f"{rubato.parent}:{os.environ['PATH']}"}

TRACE = """nodes 0 0 1 1
0: 0..0 init
1: 0..0 init
2: 0..0 init
3: 0..0 init
0: 0..4000 function solve(int, std::vector<double, std::allocator<double> > const&)
0: 4000..4010 send 2 8KiB
0: 4100..9500 allreduce 64B 64B
0: 9600..9700 barrier
0: 10000 end
1: 0..2500 function it's pack
1: 3000..3010 send 3 8KiB
1: 3100..9500 allreduce 64B 64B
1: 9600..9700 barrier
1: 10000 end
2: 1000..7000 recv 0 8KiB
2: 7000..9000 function operator*
2: 9100..9500 allreduce 64B 64B
2: 9600..9700 barrier
2: 10000 end
3: 2000..6000 recv 1 8KiB
3: 6500..9500 allreduce 64B 64B
3: 9600..9700 barrier
3: 10000 end
"""


def run(*words):
    done = subprocess.run([rubato, *words], cwd=here, capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def shell(command):
    """Elapsed by scenario of a command that advise printed."""
    done = subprocess.run(["bash", "-c", f"{command} --json - --times-only"], cwd=here, capture_output=True,
                          text=True, env=path)
    assert done.returncode == 0, (command, done.stderr)
    # A placement's file is written by a command that prints its own text first.
    text = done.stdout[done.stdout.index("{\n \"format\""):]
    return {scenario["name"]: scenario["elapsed"] for scenario in json.loads(text)["scenarios"]}


def check(archive, scenario):
    words = ["advise", archive, "--on", scenario]
    data = json.loads(run(*words, "--json", "-"))
    rows = list(csv.DictReader(io.StringIO(run(*words, "--csv", "-"))))
    text = run(*words)
    if data["no_savings"]:  # nothing is tried, the reason has a row
        assert data["cures"] == [] and [row["no_savings"] for row in rows] == [data["no_savings"]], rows
        assert "No saving is known" in text, text
        return data
    assert len(rows) == len(data["cures"]) > 0
    savings = [cure["saved"] for cure in data["cures"] if cure["saved"] is not None]
    assert savings == sorted(savings, reverse=True)
    for cure, row in zip(data["cures"], rows):
        assert (row["kind"], row["name"], row["changed"]) == (cure["kind"], cure["name"], cure["scenario"])
        elapsed = shell(cure["command"])
        assert elapsed[cure["scenario"]] == cure["elapsed"], (cure, elapsed)
        if cure["saved"] is None:
            continue
        assert elapsed[scenario] == data["elapsed"], (cure, elapsed)
        assert math.isclose(elapsed[scenario] - elapsed[cure["scenario"]], cure["saved"], abs_tol=1e-15)
        assert math.isclose(float(row["saved_s"]), cure["saved"], abs_tol=1e-15)
    shown = [line.split(". ", 1)[1] for line in text.splitlines() if ". rubato " in line]
    known = {cure["command"] for cure in data["cures"]}
    assert set(shown) <= known, set(shown) - known
    print(f"{archive} {scenario}: {len(rows)} changes, {len(shown)} shown")
    return data


(here / "run.txt").write_text(TRACE)
machine = "bandela:latency=1us,bandwidth=1GB/s,node.latency=100ns"
measured = check("run.txt", "measured")
names = {cure["name"] for cure in measured["cures"] if cure["kind"] == "function"}
assert len(names) == 3, names
assert not any(cure["kind"] in ("latency", "placement") for cure in measured["cures"])
kinds = {cure["kind"] for cure in check("run.txt", machine)["cures"]}
# (The machine has no overheads to halve.)
assert kinds == {"function", "balance", "latency", "bandwidth", "collectives", "algorithm",
                 "placement", "perfect"}, kinds
check("run.txt", machine + ",contention.out=1")
check("run.txt", "loggps:L=2us,o=0.3us,g=0.5us,G=0.1ns,S=64KiB,cpu*1.5")
check("run.txt", "perfect")

# The written placement can be read by a replay.
run("advise", "run.txt", "--on", machine, "--hosts", "here.txt", "--json", "a.json")
hosts = [line for line in (here / "here.txt").read_text().splitlines() if not line.startswith("#")]
assert len(hosts) == 4 and hosts[0] == hosts[2] and hosts[1] == hosts[3] != hosts[0], hosts
moved, = [cure for cure in json.loads((here / "a.json").read_text())["cures"] if cure["name"] == "messages"]
assert moved["command"].startswith("rubato replay "), moved
assert shell(moved["command"])[moved["scenario"]] == moved["elapsed"]

for argument in sys.argv[2:]:
    archive, _, scenario = argument.partition(" ")
    check(archive, scenario or "measured")
