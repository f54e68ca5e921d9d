#!/usr/bin/python3
"""The same schedules in SimGrid's replay and in Rubato: elapsed agrees, or differs by what their models say.

Called with the build directory. SimGrid is set to a machine that both can describe: every message takes
LATENCY + bytes / BANDWIDTH (network model CM02: no correction factors; all go through one link of the kind
FATPIPE links, which are not shared: no contention), calls cost no processor time, and collectives use
the algorithms that are named.

What is left between the two:

* SimGrid sends an envelope of 16 bytes with each message, so Rubato gets LATENCY + 16 / BANDWIDTH.
* A message below smpi/async-small-thresh leaves at once: eager. From smpi/send-is-detached-thresh on its
  sender waits, and the data set out when both sides are there: Rubato's `async`, whose request to send is on
  its way before the receive is posted. In SimGrid it takes no time, so the platform for rendezvous gives
  messages of 0 bytes, which is what a request costs, none either.
Both play the messages of a collective from each member's own enter on.
"""
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # beside the sources
try:
    from peer_schedules import halo, in_step, ring, write_archive, write_time_independent
except ImportError:
    print("SKIP: there is no python3-otf2")
    sys.exit(77)
if not shutil.which("smpirun"):
    print("SKIP: there is no smpirun (package libsimgrid-dev)")
    sys.exit(77)

rubato = pathlib.Path(sys.argv[1]) / "bin" / "rubato"
LATENCY = 100e-6
BANDWIDTH = 100e6
ENVELOPE = 16

# The host links of a cluster are shared whatever it says; so they are too fast to matter.
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node" suffix="" radical="0-{last}" speed="1Gf" bw="1e9GBps" lat="0us"
           bb_bw="100MBps" bb_lat="100us" bb_sharing_policy="FATPIPE"/>
</platform>
"""

MACHINE = ["network/model:CM02", "network/crosstraffic:no", "network/TCP-gamma:1e15",
           # Events within 10 us of each other are one by default.
           "surf/precision:1e-9"]
NEVER = 1 << 30
EAGER = [f"smpi/async-small-thresh:{NEVER}", f"smpi/send-is-detached-thresh:{NEVER}"]
RENDEZVOUS = ["smpi/async-small-thresh:0", "smpi/send-is-detached-thresh:0"]
# The default: senders never wait, but the data set out when the receive is posted.
DETACHED = ["smpi/async-small-thresh:0", f"smpi/send-is-detached-thresh:{NEVER}"]

ALGORITHMS = {  # SimGrid's name, Rubato's
    "bcast": ("binomial_tree", "binomial"),
    "allreduce": ("rdb", "recursive_doubling"),
    "barrier": ("ompi_bruck", "dissemination"),
    "alltoall": ("ring", "pairwise"),
    "allgather": ("NTSLR", "ring"),  # (its "ring" is pairwise)
}


def rubato_machine(envelope=ENVELOPE):
    algorithms = "".join(f",{operation}={name}" for operation, (_, name) in ALGORITHMS.items())
    return f"bandela:latency={(LATENCY + envelope / BANDWIDTH) * 1e6:.6f}us,bandwidth=100MB/s{algorithms}"


def rendezvous_machine(directory, request=0.0):
    """A platform file on which every message needs its receive, and the request for it so many seconds."""
    path = directory / f"rendezvous{request * 1e6:.0f}.toml"
    path.write_text(f"""
format = 1
name = "rendezvous"
[level.network]
transfer = [
  {{ from = "0B", latency = "{request * 1e6:.6f}us", bandwidth = "100MB/s" }},
  {{ from = "1B", latency = "{(LATENCY + ENVELOPE / BANDWIDTH) * 1e6:.6f}us", bandwidth = "100MB/s" }},
]
protocol = [ {{ from = "0B", kind = "async" }} ]
gap = "0s"
""")
    return str(path)


def trip(size):
    """Seconds of one message in SimGrid."""
    return LATENCY + (size + ENVELOPE) / BANDWIDTH


def simgrid_elapsed(calls, options, directory):
    traces = directory / "ti"
    traces.mkdir()
    write_time_independent(calls, traces)
    ranks = len(calls)
    (directory / "platform.xml").write_text(PLATFORM.format(last=ranks - 1))
    (directory / "hosts").write_text("".join(f"node{rank}\n" for rank in range(ranks)))
    settings = [f"smpi/{operation}:{name}" for operation, (name, _) in ALGORITHMS.items()]
    command = ["smpirun", "-np", str(ranks), "-platform", directory / "platform.xml", "-hostfile",
               directory / "hosts", "-replay", traces / "list"]
    command += [f"--cfg={setting}" for setting in MACHINE + options + settings]
    run = subprocess.run(command, capture_output=True, text=True, cwd=directory)
    found = re.search(r"Simulation time ([\d.]+)", run.stdout + run.stderr)
    assert run.returncode == 0 and found, run.stdout[-2000:] + run.stderr[-2000:]
    return float(found[1])


def rubato_elapsed(calls, machine, directory):
    archive = directory / "archive"
    write_archive(calls, archive)
    run = subprocess.run([rubato, "replay", archive, "--only", "--on", machine, "--json", "-"], capture_output=True,
                         text=True)
    assert run.returncode == 0, run.stderr
    results = json.loads(run.stdout)
    assert not results["trace"]["kept"] and not results["trace"]["warnings"], results["trace"]
    return results["scenarios"][0]["elapsed"]


failed = 0


def compare(what, calls, options=None, machine=None, differs=0.0):
    """Rubato's elapsed is longer than SimGrid's by `differs` seconds, to 0.01 % and a microsecond, which is
    what SimGrid prints."""
    global failed
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        simgrid = simgrid_elapsed(calls, options or EAGER, directory)
        ours = rubato_elapsed(calls, machine(directory) if machine else rubato_machine(), directory)
    expected = f", {differs / simgrid * 100:+.3f} % expected" if differs else ""
    print(f"{what:46s} {len(calls):3d} ranks  SimGrid {simgrid:9.6f} s  Rubato {ours:9.6f} s  "
          f"{(ours / simgrid - 1) * 100:+7.3f} %{expected}")
    if not abs(ours - simgrid - differs) <= 1e-4 * simgrid + 1e-6:
        print(f"FAIL {what}: the difference is {ours - simgrid:.6f} s, not {differs:.6f} s")
        failed = 1


# --- Messages ---
compare("ring, 8 B", ring(8, 20, 8, seed=1))
compare("ring, 64 KiB", ring(64, 2, 65536, seed=2))
compare("halo, 8 KiB", halo(2, 20, 8192, seed=3))
compare("halo, 1 MiB", halo(3, 5, 1 << 20, seed=4))
compare("halo, 8 KiB", halo(4, 10, 8192, seed=5))
compare("ring, 64 KiB, rendezvous", ring(8, 20, 65536, seed=6), RENDEZVOUS, rendezvous_machine)
compare("halo, 64 KiB, rendezvous", halo(2, 20, 65536, seed=7), RENDEZVOUS, rendezvous_machine)
compare("halo, 1 MiB, rendezvous", halo(4, 5, 1 << 20, seed=8), RENDEZVOUS, rendezvous_machine)

# --- Collectives: all come together, so the time of each is that of its algorithm ---
for size in (8, 65536):
    for ranks in (8, 15, 64):
        for operation in ("bcast", "allreduce", "alltoall", "allgather"):
            call = (operation, size, 0) if operation == "bcast" else (operation, size)
            compare(f"{operation}, {size} B", in_step(ranks, 1, 9, lambda step: call))
for ranks in (8, 15, 64):
    compare("barrier", in_step(ranks, 1, 10, lambda step: ("barrier",)))
# Many of them. Among 2^k ranks some path from every member to another one takes all rounds, so that in SimGrid, too,
# each ends a whole operation after the one before, whichever rank arrived last.
for operation in ("allreduce", "alltoall", "allgather"):
    compare(f"{operation}, 1024 B, 20 times", in_step(16, 20, 11, lambda step: (operation, 1024)))
# The last member of a broadcast from r is r - 1, and the last that is notified in the barrier is r - 2, which is the
# next root.
compare("bcast, 8192 B, and barrier, 20 times",
        in_step(32, 20, 12, lambda step: ("bcast", 8192, -2 * step % 32), lambda step: ("barrier",)))

# --- What differs, and by how much ---
# Without the envelope Rubato's ring is shorter by 16 bytes for each of its 8 x 20 messages.
compare("ring without the envelope", ring(8, 20, 8, seed=1), machine=lambda _: rubato_machine(0),
        differs=-8 * 20 * ENVELOPE / BANDWIDTH)

# A receiver that is late by more than a trip. Rank 1 computes 2 ms, receives a message, and so on.
N = 20
late = [[("send", 1, 8192)] * N, [("compute", 2_000_000), ("recv", 0, 8192)] * N]
# Eager: it is there.
compare("late receiver", late)
# SimGrid's default lets it set out only now: N trips more.
compare("late receiver, SimGrid's default", late, DETACHED, differs=-N * trip(8192))
# Rendezvous: both wait for the data, which SimGrid sends at the post. In Rubato, where the request to send is a
# message as well, it came in the meantime and its time is part of T: a latency less for each message.
compare("late receiver, rendezvous", late, RENDEZVOUS, rendezvous_machine)
compare("late receiver, rendezvous with a request", late, RENDEZVOUS,
        lambda directory: rendezvous_machine(directory, LATENCY), differs=-N * LATENCY)

# --- Collectives whose members come at different times --- The same rank is last in each Allreduce, by more than the
# time of two of them. All messages for it have arrived, so it continues at once, and only the last Allreduce is
# visible: N x 2 ms + 3 trips.
straggler = [[("compute", 2_000_000 if rank == 0 else 100_000), ("allreduce", 8)] * N for rank in range(8)]
compare("allreduce with a straggler", straggler)
# Between 12 = 8 + 4 ranks the first four pairs fold: they are a trip late for the rounds among themselves, and have the
# result as soon as the other four, which are not late, have sent theirs: 1 + 2 + 0, and 1 to forward it.
compare("allreduce, 64 KiB", in_step(12, 1, 14, lambda step: ("allreduce", 65536)))
# All at random, by about as much as the collective takes.
for ranks in (8, 12, 16):
    for operation, size in (("bcast", 8192), ("allreduce", 8192), ("allgather", 1024), ("alltoall", 1024)):
        at = random.Random(ranks)
        call = (operation, size, 0) if operation == "bcast" else (operation, size)
        compare(f"{operation}, {size} B, apart",
                [[("compute", at.randrange(10_000, 200_000)), call] * N for _ in range(ranks)])
# Broadcasts from one root, which does not wait: broadcasts overlap, and the last member completes the last one 3 trips
# after the root sent it.
compare("bcast, 8192 B, always from rank 0", in_step(8, N, 13, lambda step: ("bcast", 8192, 0)))

if failed:
    sys.exit(1)
print("PASS against_simgrid")
