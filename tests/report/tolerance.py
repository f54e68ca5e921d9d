#!/usr/bin/env python3
"""What `rubato tolerance` and `rubato replay --sweep` find against brute force, replays of factors by `rubato replay`:
tolerance.py RUBATO [ARCHIVE...].

A replay at 0.999 of a threshold stays below its percentage, and one at 1.001 of it does not; so it is for crossovers of
sweeps. The derivative equals the difference quotient of a replay 10^-4 worse, and the one of 2 * 10^-4 where both lie in
its straight piece. Points of curves and maps are the scenarios that they stand for. Archives are those named, else those
in the folder $RUBATO_ARCHIVES.
"""
import glob
import json
import os
import subprocess
import sys

rubato, archives = sys.argv[1], sys.argv[2:]
if not archives and "RUBATO_ARCHIVES" in os.environ:
    archives = sorted(glob.glob(os.environ["RUBATO_ARCHIVES"] + "/**/*.otf2", recursive=True))
if not archives:
    print("skipped: no archives; name them, or their folder in $RUBATO_ARCHIVES")
    sys.exit(77)

MACHINES = ["infiniband-hdr", "infiniband-hdr:ppn=1", "ethernet-1g:ppn=2",
            "loggps:L=5us,o=0.5us,g=1us,G=0.3ns,S=4KiB"]
SWEEPS = ["latency=0.1..1000", "bandwidth=0.001..10", "cpu=0.1..10/4", "latency=0.5..200/4,bandwidth=0.01..2/3"]
PLAIN = ["--only", "--times-only", "--json", "-"]

bad = checked = derivatives = crossovers = points = 0
worst = 0


def run(*words):
    done = subprocess.run([rubato, *words], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip()


def changed(machine, *changes):
    return machine + (("," if ":" in machine else ":") + ",".join(changes) if changes else "")


def replays(archive, scenarios):
    """Elapsed by text of the scenario."""
    elapsed = {}
    scenarios = sorted(set(scenarios))
    for first in range(0, len(scenarios), 60):
        words = [word for text in scenarios[first:first + 60] for word in ("--on", text)]
        found = run("replay", archive, *PLAIN, *words)
        elapsed.update({scenario["name"]: scenario["elapsed"] for scenario in found["scenarios"]})
    return elapsed


def complain(*words):
    global bad
    print(*words)
    bad += 1


def check_tolerance(archive, machine):
    global checked, derivatives, worst
    found = run("tolerance", archive, "--on", machine, "--json", "-")
    if isinstance(found, str):
        print(f"{archive} on {machine}: not looked at: {found[:150]}")
        return False

    def worse(number, factor):
        return changed(machine, f"{number}{'*' if number.endswith('latency') else '/'}{factor!r}")

    asked = []
    for number in found["numbers"]:
        name = number["name"]
        asked += [worse(name, 1 + step) for step in (1e-4, 2e-4)] + [worse(name, 1e6)]
        for threshold in number["thresholds"]:
            if threshold["factor"]:
                asked += [worse(name, threshold["factor"] * part) for part in (0.999, 1, 1.001)]
    elapsed = replays(archive, asked)
    base = found["elapsed"]
    for number in found["numbers"]:
        name = number["name"]
        near, far = ((elapsed[worse(name, 1 + step)] / base - 1) / step for step in (1e-4, 2e-4))
        if abs(near - far) <= 1e-9:
            derivatives += 1
            if abs(number["share"] - near) > 1e-6 + 1e-4 * near:
                complain(f"{archive} on {machine}: {name}: a share of {number['share']} instead of {near}")
        for threshold in number["thresholds"]:
            target, factor = base * (1 + threshold["percent"] / 100), threshold["factor"]
            checked += 1
            if factor is None:
                ok = elapsed[worse(name, 1e6)] < target
            else:
                below, at, above = (elapsed[worse(name, factor * part)] for part in (0.999, 1, 1.001))
                worst = max(worst, abs(at - target) / (target - base))
                ok = below <= target <= above
            if not ok:
                complain(f"{archive} on {machine}: {name}: {threshold} is none")
    return True


def check_sweep(archive, machine, text):
    global crossovers, points
    found = run("replay", archive, *PLAIN, "--on", machine, "--sweep", text)
    if isinstance(found, str):
        complain(f"{archive} on {machine}: {text}: {found[:150]}")
        return
    sweep, = found["sweeps"]
    axes = sweep["axes"]

    def times(axis, factor):
        return f"{axis['key']}*{factor!r}"

    some = {}  # scenarios by row and column
    for row in range(0, len(sweep["elapsed"]), 2):
        for column in range(row, len(axes[0]["factors"]), 3):
            other = [times(axes[1], axes[1]["factors"][row])] if len(axes) == 2 else []
            some[row, column] = changed(machine, times(axes[0], axes[0]["factors"][column]), *other)
    beside = {}  # replays just better, just worse than each crossover
    for axis in axes:
        step = 1.001 if axis["key"].endswith("latency") else 1 / 1.001
        for crossover in axis["crossovers"]:
            if crossover["factor"]:
                beside[axis["key"], crossover["percent"]] = [
                    changed(machine, times(axis, crossover["factor"] * part)) for part in (1 / step, step)]
    elapsed = replays(archive, [machine, *some.values(), *sum(beside.values(), [])])
    if elapsed[machine] != sweep["unchanged"]:
        complain(f"{archive} on {machine}: {text}: {sweep['unchanged']} instead of {elapsed[machine]}")
    for (row, column), scenario in some.items():
        points += 1
        if abs(sweep["elapsed"][row][column] / elapsed[scenario] - 1) > 1e-12:
            complain(f"{scenario} of {archive}: {sweep['elapsed'][row][column]} instead of {elapsed[scenario]}")
    for axis in axes:
        for crossover in axis["crossovers"]:
            target, crossing = axis["best"] * (1 + crossover["percent"] / 100), (axis["key"], crossover["percent"])
            crossovers += 1
            if crossing not in beside:
                ok = axis["worst"] < target
            else:
                better, worse = (elapsed[scenario] for scenario in beside[crossing])
                ok = better <= target <= worse
            if not ok:
                complain(f"{archive} on {machine}: {text}: {crossover} of {axis['key']} is none")


for archive in archives:
    for machine in MACHINES:
        if check_tolerance(archive, machine):
            for text in SWEEPS:
                check_sweep(archive, machine, text)
print(f"{checked} thresholds and {derivatives} derivatives of {len(archives)} archives checked, {crossovers} crossovers and "
      f"{points} points of sweeps: {bad} wrong; at a threshold the run is at most {100 * worst:.3f} % of the percentage off")
sys.exit(bad > 0)
