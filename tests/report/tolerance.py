#!/usr/bin/env python3
"""What `rubato tolerance` finds against brute force, replays of factors by `rubato replay`: tolerance.py RUBATO [ARCHIVE...].

A replay at 0.999 of a threshold stays below its percentage, and one at 1.001 of it does not. The derivative equals the
difference quotient of a replay 10^-4 worse, and the one of 2 * 10^-4 where both lie in its straight piece. Archives are
those named, else those in the folder $RUBATO_ARCHIVES.
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


def run(*words):
    done = subprocess.run([rubato, *words], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip()


def replays(archive, changed):
    """Elapsed by text of the scenario."""
    elapsed = {}
    for first in range(0, len(changed), 60):
        words = [word for text in changed[first:first + 60] for word in ("--on", text)]
        found = run("replay", archive, "--only", "--no-intervals", "--no-wait-states", "--json", "-", *words)
        elapsed.update({scenario["name"]: scenario["elapsed"] for scenario in found["scenarios"]})
    return elapsed


bad = checked = derivatives = 0
worst = 0
for archive in archives:
    for machine in MACHINES:
        found = run("tolerance", archive, "--on", machine, "--json", "-")
        if isinstance(found, str):
            print(f"{archive} on {machine}: not looked at: {found[:150]}")
            continue

        def worse(number, factor):
            separator = "," if ":" in machine else ":"
            return f"{machine}{separator}{number}{'*' if number.endswith('latency') else '/'}{factor!r}"

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
                    print(f"{archive} on {machine}: {name}: a share of {number['share']} instead of {near}")
                    bad += 1
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
                    print(f"{archive} on {machine}: {name}: {threshold} is none")
                    bad += 1
print(f"{checked} thresholds and {derivatives} derivatives of {len(archives)} archives checked, {bad} wrong; at a "
      f"threshold the run is at most {100 * worst:.3f} % of the percentage off")
sys.exit(bad > 0)
