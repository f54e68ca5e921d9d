#!/usr/bin/python3
"""How near a replay comes to short bursts, streams and lone messages on the machine that was calibrated.

    tests/bench/closure_table.py FLAVOUR BUILD_DIR [--platform FILE...] [--pairs N] [--before COMMAND]
                                 [--only WORD...]

FLAVOUR is openmpi or mpich. Without --platform it calibrates first, for as long as `rubato calibrate` does by
default, and keeps the files as FLAVOUR.toml and FLAVOUR.csv here; several FILEs have a column each. COMMAND is started
before each rank's program (chrt -r 1).

Each pattern of tests/fixture/exchange.c is run untraced and traced by turns, N times, on a core per rank, and the
recordings are replayed. A row has the median over the launches of their least times untraced (a file of minima is for
these), the least of the replays (what other people's work adds between the calls is replayed, too), and the difference;
--only rows whose name contains one of the words. Virtual processors have several speeds: a pair of launches counts if
ping-pongs of 8 B before and after it are within 25 % of the one that the first FILE was made with, and is tried again
otherwise; an asterisk says that none of them was. tests/e2e/calibrate/closure.sh is a test of five patterns.
"""

import argparse
import csv
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

WORK = 20e-6  # seconds that a lone end computes
EXCHANGES = {"pingpong": 2, "burst": 2, "stream": 256}
# For the others, the time of a rank in these calls counts.
TIMED = {
    "lone_send": (0, ["MPI_Send"]),
    "lone_pingpong": (0, ["MPI_Send", "MPI_Recv"]),
    "lone_receive": (1, ["MPI_Recv"]),
    "lone_posted": (1, ["MPI_Irecv", "MPI_Wait"]),
}
SIZES = [8, 1024, 8192, 65536, 1048576]
CASES = [(f"burst {k}" if k else "pingpong", size) for size in SIZES for k in (0, 1, 2, 4, 8)]
CASES += [("stream", size) for size in (8, 1024)]
CASES += [(pattern, size) for pattern in TIMED for size in (8, 1024)]


class Runner:
    def __init__(self, flavour, build, folder, before):
        self.rubato = os.path.join(build, "bin", "rubato")
        self.folder = folder
        self.mpirun = [f"mpirun.{flavour}", "-n", "2"] + (["-bind-to", "core"] if flavour == "mpich" else [])
        self.mpirun += before.split()
        self.environment = dict(
            os.environ,
            OMPI_ALLOW_RUN_AS_ROOT="1",
            OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
            OMPI_MCA_btl_vader_single_copy_mechanism="none",
            WORK=str(round(WORK * 1e9)),
        )
        program = pathlib.Path(__file__).parent.parent / "fixture" / "exchange.c"
        self.program = os.path.join(folder, "exchange")
        subprocess.run([f"mpicc.{flavour}", "-O1", "-w", "-o", self.program, program], check=True)

    def call(self, command, **environment):
        return subprocess.run(
            command, check=True, capture_output=True, text=True, cwd=self.folder, env=self.environment | environment
        ).stdout

    def calibrate(self, platform):
        plan = os.path.join(self.folder, "plan.toml")
        with open(plan, "w", encoding="utf-8") as file:
            file.write('patterns = "none"\ncollectives = "none"\n')
        options = ["--plan", plan, "-o", platform]
        self.call(self.mpirun + [self.rubato, "calibrate"] + options)

    def speed(self):
        """Of a ping-pong of 8 B, in seconds."""
        return float(self.call(self.mpirun + [self.program, "pingpong", "8", "20", "200"]).split()[0]) * 1e-9

    def attempt(self, name, size, platforms):
        """Seconds untraced, and replayed on each platform."""
        pattern, _, burst = name.partition(" ")
        times, loops = (2, 100) if size > 1e5 else (10, 200)
        if pattern == "stream":
            times = 2
        exchange = [self.program, pattern, str(size), str(times), str(loops)]
        environment = {"BURST": burst} if burst else {}
        least = float(self.call(self.mpirun + exchange, **environment).split()[0]) * 1e-9
        archive = os.path.join(self.folder, "run.otf2dir")
        shutil.rmtree(archive, ignore_errors=True)
        self.call(self.mpirun + [self.rubato, "trace", "-o", archive] + exchange, **environment)
        return [least] + [self.replayed(archive, platform, pattern, times * loops) for platform in platforms]

    def replayed(self, archive, platform, pattern, times):
        # For exchanges, without the overhead between the calls, where the program does nothing.
        scenario = platform + (":cpu*1000000" if pattern in EXCHANGES else "")
        replay = [self.rubato, "replay", archive, "--only", "--on", scenario, "--json", "-"]
        scenario = json.loads(self.call(replay))["scenarios"][0]
        if pattern in EXCHANGES:
            return scenario["elapsed"] / (times * EXCHANGES[pattern])
        rank, calls = TIMED[pattern]
        return sum(scenario["ranks"][rank]["calls"][call]["time"] for call in calls) / times


def calibrated_speed(platform):
    with open(platform.removesuffix(".toml") + ".csv") as samples:
        for row in csv.DictReader(line for line in samples if line[0] != "#"):
            if (row["level"], row["pattern"], row["bytes"]) == ("node", "pingpong", "8"):
                return float(row["seconds_min"])
    sys.exit(f"{platform}: no samples of ping-pongs of 8 B beside it")


def measure(runner, name, size, platforms, count):
    """As many pairs at the calibrated speed, and whether they are."""
    expected = calibrated_speed(platforms[0])
    alike, others = [], []
    before = runner.speed()
    while len(alike) < count and len(others) < 4 * count:
        pair = runner.attempt(name, size, platforms)
        after = runner.speed()
        same = all(expected / 1.25 < speed < 1.25 * expected for speed in (before, after))
        (alike if same else others).append(pair)
        before = after
    return alike or others, bool(alike)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("flavour")
    parser.add_argument("build")
    parser.add_argument("--platform", nargs="+")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--before", default="")
    parser.add_argument("--only", nargs="*", default=[""])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(arguments.flavour, os.path.abspath(arguments.build), folder, arguments.before)
        platforms = [os.path.abspath(file) for file in arguments.platform or [arguments.flavour + ".toml"]]
        if not arguments.platform:
            runner.calibrate(platforms[0])
        print("| pattern | bytes | untraced, ns |" + " replayed, ns | error |" * len(platforms))
        print("|---|---|---|" + "---|---|" * len(platforms))
        for name, size in CASES:
            if not any(word in f"{name} {size}" for word in arguments.only):
                continue
            pairs, alike = measure(runner, name, size, platforms, arguments.pairs)
            untraced, *replayed = zip(*pairs)
            untraced = statistics.median(untraced) * 1e9
            replayed = [min(times) * 1e9 for times in replayed]
            columns = "".join(f" {time:.0f} | {100 * (time / untraced - 1):+.0f} % |" for time in replayed)
            print(f"| {name}{'' if alike else ' *'} | {size} | {untraced:.0f} |{columns}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
