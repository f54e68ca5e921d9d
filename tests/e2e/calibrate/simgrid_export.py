#!/usr/bin/python3
"""SimGrid's ping-pong on what `rubato export` writes takes what the platform file says.

Called with the build directory. The ping-pong is SimGrid's own replay of a trace in its text format, 100
round trips of each size, so that the microsecond in which it prints its clock does not matter. Expected:
T(n) of the file, worked out here from its segments, within 1 %.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

if not shutil.which("smpirun"):
    print("SKIP: there is no smpirun (package libsimgrid-dev)")
    sys.exit(77)

rubato = pathlib.Path(sys.argv[1]) / "bin" / "rubato"
TRIPS = 200
UNITS = {"ns": 1e-9, "us": 1e-6, "s": 1, "B": 1, "KiB": 1024, "B/s": 1, "MB/s": 1e6, "GB/s": 1e9}

# Steps, a segment below the latency, overheads and a handshake.
BENT = """
format = 1
name = "bent"
[level.network]
transfer = [
  { from = "0B", latency = "2us", bandwidth = "1GB/s" },
  { from = "4KiB", latency = "9us", bandwidth = "3GB/s" },
  { from = "256KiB", latency = "-5us", bandwidth = "2.5GB/s" },
]
protocol = [ { from = "0B", kind = "eager" }, { from = "4KiB", kind = "async" } ]
send_overhead = "300ns"
receive_overhead = "200ns"
"""


def quantity(text):
    number, unit = re.fullmatch(r"(-?[0-9.]+)([A-Za-z/]+)", text).groups()
    return float(number) * UNITS[unit]


def one_way(level, size):
    """Seconds of a message, with the overheads."""
    segment = [s for s in level["transfer"] if quantity(s["from"]) <= size][-1]
    overheads = sum(quantity(level.get(key, "0s")) for key in ("send_overhead", "receive_overhead"))
    return quantity(segment["latency"]) + size / quantity(segment["bandwidth"]) + overheads


def simgrid_one_way(platform, size, directory):
    for rank, calls in enumerate((("send", "recv"), ("recv", "send"))):
        lines = [f"{rank} init"] + [f"{rank} {call} {1 - rank} 0 {size} 6" for call in calls] * (TRIPS // 2)
        (directory / f"{rank}.txt").write_text("\n".join(lines + [f"{rank} finalize"]) + "\n")
    (directory / "list").write_text("".join(f"{directory / str(rank)}.txt\n" for rank in (0, 1)))
    (directory / "hosts").write_text("node0\nnode1\n")
    run = subprocess.run(["smpirun", "-np", "2", "-platform", platform, "-hostfile", directory / "hosts",
                          "-replay", directory / "list", "--cfg=network/model:SMPI",
                          "--cfg=surf/precision:1e-9"], capture_output=True, text=True, cwd=directory)
    found = re.search(r"Simulation time ([\d.]+)", run.stdout + run.stderr)
    assert run.returncode == 0 and found, run.stdout[-2000:] + run.stderr[-2000:]
    return float(found[1]) / TRIPS


worst = 0
with tempfile.TemporaryDirectory() as name:
    directory = pathlib.Path(name)
    (directory / "bent.toml").write_text(BENT)
    share = pathlib.Path(sys.argv[1]) / "share" / "rubato" / "platforms"
    for machine in (directory / "bent.toml", share / "infiniband-edr.toml", share / "ethernet-1g.toml"):
        xml = directory / (machine.stem + ".xml")
        subprocess.run([rubato, "export", machine, "-o", xml, "--nodes", "2"], check=True)
        level = tomllib.loads(machine.read_text())["level"]["network"]
        for size in (1, 8, 1000, 4095, 4096, 65536, 300000, 1 << 20, 8 << 20):
            simgrid, ours = simgrid_one_way(xml, size, directory), one_way(level, size)
            print(f"{machine.stem:16s} {size:9d} B  SimGrid {simgrid * 1e6:11.3f} us  "
                  f"T(n) {ours * 1e6:11.3f} us  {(simgrid / ours - 1) * 100:+6.2f} %")
            worst = max(worst, abs(simgrid / ours - 1))
if worst > 0.01:
    print(f"FAIL: {worst * 100:.2f} % off")
    sys.exit(1)
