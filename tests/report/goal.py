#!/usr/bin/env python3
"""What `rubato export --goal` writes: goal.py RUBATO [ARCHIVE...].

Lines for small traces, as derived by hand. Then programs on loggps:L=2us, a machine without other costs: a schedule, as
evaluated here by its definition (an operation starts when the operations that it requires have ended and others that
it irequires have started; a message takes L), takes as long as the replay. LogGOPSim, if it is in the PATH with its txt2bin, judges
the same. Archives are those named, else those in the folder $RUBATO_ARCHIVES.
"""
import collections
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

rubato, archives = os.path.abspath(sys.argv[1]), [os.path.abspath(path) for path in sys.argv[2:]]
if not archives and "RUBATO_ARCHIVES" in os.environ:
    archives = sorted(glob.glob(os.environ["RUBATO_ARCHIVES"] + "/**/*.otf2", recursive=True))
LATENCY = 2000  # ns
MACHINE = f"loggps:L={LATENCY}ns"
work = tempfile.TemporaryDirectory()
os.chdir(work.name)
bad = 0


def complain(*words):
    global bad
    print(*words)
    bad += 1


def export(trace, *words):
    done = subprocess.run([rubato, "export", trace, "--goal", "-", *words], capture_output=True, text=True, check=False)
    return done.stdout, done.stderr.strip(), done.returncode


def written(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    return name


def expect(name, text, goal, *words, warning=""):
    found, errors, code = export(written(name + ".txt", text), *words)
    goal = "".join(line.strip() + "\n" for line in goal.strip().splitlines())
    if code != 0 or found != goal:
        complain(f"{name}: exit code {code}, {errors}\n{found}instead of\n{goal}")
    if warning not in errors or (errors and not warning):
        complain(f"{name}: '{errors}' instead of '{warning}'")


def refused(name, text, error, *words):
    _, errors, code = export(written(name + ".txt", text), *words)
    if code not in (1, 2) or error not in errors:
        complain(f"{name}: exit code {code}, '{errors}' instead of '{error}'")


# --- Lines ---

# Rank 0 computes 100 - 10 before its Isend (its first call, without communication, takes 10: also computation), and
# 620 - 120 before its wait for both requests. Rank 1 begins 5 later than rank 0, and computes 250 - 50 between.
expect("requests", """
    nodes 0 1
    0: 0..10 local MPI_Comm_rank
    0: 100..110 isend 1 8B req 1 tag 7
    0: 110..120 irecv 1 1KiB req 2
    0: 620..700 waitall 1 2
    0: 900 end
    1: 5..40 recv 0 8B tag 7
    1: 40..50 send 0 1KiB
    1: 250..260 local MPI_Comm_rank
""", """
    num_ranks 2
    rank 0 {
    l1: calc 100
    l2: send 8b to 1 tag 7
    l2 requires l1
    l3: recv 1024b from 1 tag 0
    l3 irequires l2
    l4: calc 500
    l4 irequires l3
    l5: calc 200
    l5 requires l4
    l5 requires l2
    l5 requires l3
    }
    rank 1 {
    l1: calc 5
    l2: recv 8b from 0 tag 7
    l2 requires l1
    l3: send 1024b to 0 tag 0
    l3 requires l2
    l4: calc 210
    l4 requires l3
    }
""")

# A message without bytes has one. Tags on other communicators are numbered from 2^20, since (communicator, tag) is one
# number here; MPI_Sendrecv ends with both. The run begins when MPI_Init ends, and ends at MPI_Finalize: rank 0 computes
# 20, then 50 - 30.
expect("window", """
    nodes 0 1
    comm 1 0 1
    0: 0..10 init
    0: 30..30 sendrecv 1 0B 1 8B comm 1
    0: 50..90 finalize
    1: 3..10 init
    1: 30..30 sendrecv 0 8B 0 0B comm 1
    1: 30..90 finalize
""", """
    num_ranks 2
    rank 0 {
    l1: calc 20
    l2: send 1b to 1 tag 1048576
    l2 requires l1
    l3: recv 8b from 1 tag 1048576
    l3 irequires l2
    l4: calc 20
    l4 requires l2
    l4 requires l3
    }
    rank 1 {
    l1: calc 20
    l2: send 8b to 0 tag 1048576
    l2 requires l1
    l3: recv 1b from 0 tag 1048576
    l3 irequires l2
    }
""")

# An Allreduce of 8 bytes (recorded for two members: 16) by recursive doubling exchanges the vector, with the tag
# 2^30 + 0 of the first collective.
TWO = """
    nodes 0 1
    0: 0..10 allreduce 16B 16B
    0: 15 end
    1: 0..10 allreduce 16B 16B
"""
expect("messages", TWO, """
    num_ranks 2
    rank 0 {
    l1: send 8b to 1 tag 1073741824
    l2: recv 8b from 1 tag 1073741824
    l2 irequires l1
    l3: calc 5
    l3 requires l1
    l3 requires l2
    }
    rank 1 {
    l1: send 8b to 0 tag 1073741824
    l2: recv 8b from 0 tag 1073741824
    l2 irequires l1
    }
""", "--on", "perfect:collectives=algorithm,allreduce=recursive_doubling")
# As one: to rank 0, and back.
expect("one", TWO, """
    num_ranks 2
    rank 0 {
    l1: recv 8b from 1 tag 1073741824
    l2: send 8b to 1 tag 1073741824
    l2 requires l1
    l3: calc 5
    l3 requires l2
    }
    rank 1 {
    l1: send 8b to 0 tag 1073741824
    l2: recv 8b from 0 tag 1073741824
    l2 requires l1
    }
""", "--collectives=one")

# Creating a communicator is an Allgather of 8 bytes, and what the recording has after the enter of the last member: from
# 30 to 50. Rank 0 then computes 10.
expect("creation", """
    nodes 0 1
    0: 0..50 comm_create
    0: 60 end
    1: 30..50 comm_create
""", """
    num_ranks 2
    rank 0 {
    l1: send 8b to 1 tag 1073741824
    l2: recv 8b from 1 tag 1073741824
    l2 irequires l1
    l3: calc 30
    l3 requires l1
    l3 requires l2
    }
    rank 1 {
    l1: calc 30
    l2: send 8b to 0 tag 1073741824
    l2 requires l1
    l3: recv 8b from 0 tag 1073741824
    l3 irequires l2
    l4: calc 20
    l4 requires l2
    l4 requires l3
    }
""")

# MPI_Put, and the creation of its window, are computation: 10 + 20. So is the receive without a send: 30. Twice the
# processor speed halves computation between calls (100), not those.
expect("omissions", """
    nodes 0 1
    window 1
    0: 0..10 win_create 8B win 1
    0: 10..30 put 1 8B win 1
    0: 130..160 recv 1 8B
    1: 0..10 win_create 8B win 1
    1: 10..20 send 0 8B tag 3
""", """
    num_ranks 2
    rank 0 {
    l1: calc 110
    }
    rank 1 {
    l1: calc 10
    }
""", "--on", "perfect:cpu=2", warning="3 calls are computation of their recorded length; 1 sends without a receive are "
       "left out; 1 receives without a send are left out")
refused("threads", """
    0: 0..10 send 1 8B
    1: 0..10 recv 0 8B
    1.1: 0..10 recv 1 8B
    1.1: 20..30 send 1 8B
""", "rank 1 thread 1 communicates beside the rank's main thread")
refused("measured", TWO, "--on: measured has no messages of collectives", "--on", "measured")
refused("deadlock", """
    0: 0..10 send 1 8B
    0: 10..20 recv 1 8B
    1: 0..10 send 0 8B
    1: 10..20 recv 0 8B
""", "the replay deadlocks", "--on", "loggps:L=1us,S=4B")


# --- Times ---

class Program:
    """A text trace: calls take 10 ns in it."""

    def __init__(self, ranks, *lines):
        self.head = ["nodes " + " ".join(map(str, range(ranks))), *lines]
        self.calls = [[] for _ in range(ranks)]
        self.now = [0] * ranks

    def call(self, rank, text, compute=0):
        begin = self.now[rank] + compute
        self.now[rank] = begin + 10
        self.calls[rank].append(f"{rank}: {begin}..{begin + 10} {text}")

    def text(self):
        return "\n".join(self.head + [line for calls in self.calls for line in calls]) + "\n"


def ring(p):
    program = Program(p)
    for _ in range(10):
        program.call(0, "send 1 1KiB", 1000)
        program.call(0, f"recv {p - 1} 1KiB")
        for rank in range(1, p):
            program.call(rank, f"recv {rank - 1} 1KiB")
            program.call(rank, f"send {(rank + 1) % p} 1KiB", 500)
    return program


def halo(p):
    program = Program(p)
    for _ in range(20):
        for rank in range(p):
            left, right = (rank - 1) % p, (rank + 1) % p
            program.call(rank, f"irecv {left} 8KiB req 1", random.randrange(20000, 60000))
            program.call(rank, f"irecv {right} 8KiB req 2")
            program.call(rank, f"isend {left} 8KiB req 3")
            program.call(rank, f"isend {right} 8KiB req 4")
            program.call(rank, "waitall 1 2 3 4", random.randrange(5000))
    return program


def master(p):
    program = Program(p)
    for worker in range(1, p):
        program.call(0, f"send {worker} 64B", 100)
    for turn in range(5):
        for worker in range(1, p):
            program.call(0, f"recv {worker} 4KiB any_source")
            program.call(worker, "recv 0 64B")
            program.call(worker, "send 0 4KiB", random.randrange(30000, 90000))
            if turn < 4:
                program.call(0, f"send {worker} 64B", 200)
    return program


def collectives(p):
    """All operations; Alltoallv with other parts for each pair, on a communicator in another order of ranks."""
    program = Program(p, "comm 1 " + " ".join(map(str, reversed(range(p)))))
    last = p - 1
    for _ in range(3):
        for rank in range(p):
            local = p - 1 - rank
            parts = [100 * abs(local - other) for other in range(p)]
            sums = f"{sum(parts)}B {sum(parts)}B"
            for text in (f"allreduce {8 * p}B {8 * p}B", f"allreduce {2 ** 20 * p}B {2 ** 20 * p}B", "barrier",
                         f"bcast root 1 {p if rank == 1 else 0}KiB 1KiB", f"alltoall {64 * p}B {64 * p}B",
                         f"gather root {last} 8B {8 * p if rank == last else 0}B", f"allgather {8 * p}B {8 * p}B",
                         f"scatter root {last} {8 * p if rank == last else 0}B 8B",
                         f"reduce root {last} 1KiB {p if rank == last else 0}KiB",
                         f"alltoallv {sums} parts {' '.join(f'{part}B' for part in parts)} comm 1",
                         f"scan {8 * (p - rank)}B {8 * (rank + 1)}B"):
                program.call(rank, text, random.randrange(5000, 20000))
            program.call(rank, "ibarrier req 5", random.randrange(2000))
            program.call(rank, f"iallreduce {8 * p}B {8 * p}B req 6")
            program.call(rank, "waitall 5 6", random.randrange(5000, 20000))
    return program


class Schedule:
    def __init__(self, text):
        self.ranks = []
        for line in text.splitlines():
            words = line.split()
            if words[0] == "rank":
                assert int(words[1]) == len(self.ranks), line
                self.ranks.append([])
            elif words[0].endswith(":"):
                operation = re.fullmatch(r"l(\d+): (?:(calc) (\d+)|(send|recv) (\d+)b (?:to|from) (\d+) tag (\d+))", line)
                assert operation and int(operation[1]) == len(self.ranks[-1]) + 1, line
                self.ranks[-1].append((operation, []))
            elif len(words) == 3:
                assert words[1] in ("requires", "irequires") and int(words[0][1:]) == len(self.ranks[-1]), line
                self.ranks[-1][-1][1].append((int(words[2][1:]) - 1, words[1] == "requires"))
        channels = collections.defaultdict(lambda: ([], []))
        for rank, operations in enumerate(self.ranks):
            for number, (each, _) in enumerate(operations):
                if each[4] == "send":
                    channels[rank, int(each[6]), each[7]][0].append((int(each[5]), rank, number))
                elif each[4] == "recv":
                    channels[int(each[6]), rank, each[7]][1].append((int(each[5]), rank, number))
        self.channels = channels
        self.source = {}
        for key, (sends, receives) in channels.items():
            assert [size for size, *_ in sends] == [size for size, *_ in receives], key
            for (_, *send), (_, *receive) in zip(sends, receives):
                self.source[tuple(receive)] = tuple(send)

    def elapsed(self):
        """ns; each rank as far as it can be evaluated, in turn."""
        start, end = {}, {}
        at = [0] * len(self.ranks)
        moved = True
        while moved:
            moved = False
            for rank, operations in enumerate(self.ranks):
                while at[rank] < len(operations):
                    each, needs = operations[at[rank]]
                    me = (rank, at[rank])
                    if any((rank, other) not in end for other, ended in needs if ended):
                        break
                    start[me] = max([(end if ended else start)[rank, other] for other, ended in needs], default=0)
                    if each[4] != "recv":
                        end[me] = start[me] + int(each[3] or 0)
                    at[rank] += 1
                    moved = True
            for receive, send in self.source.items():
                if receive in start and receive not in end and send in start:
                    end[receive] = max(start[receive], start[send] + LATENCY)
                    moved = True
        assert all(len(operations) == done for operations, done in zip(self.ranks, at)), "never ends"
        return max(end.values())


def loggopsim(goal):
    if not (shutil.which("LogGOPSim") and shutil.which("txt2bin")):
        return None
    subprocess.run(["txt2bin", "-i", written("goal", goal), "-o", "goal.bin"], check=True, capture_output=True)
    words = ["LogGOPSim", "-f", "goal.bin", "-L", str(LATENCY), "-o", "0", "-g", "0", "-G", "0", "-S", "2000000000"]
    printed = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return max(int(time) for time in re.findall(r"^(?:Host|Maximum).*: (\d+)", printed, re.M))


def compare(name, trace, tolerance=0):
    words = ["--on", MACHINE]
    done = subprocess.run([rubato, "replay", trace, "--only", "--times-only", "--json", "-", *words],
                          capture_output=True, text=True, check=False)
    goal, errors, code = export(trace, *words)
    if done.returncode != 0 or code != 0:
        print(f"{name}: {(done.stderr + errors).strip()}")
        if "cannot express" not in errors and "deadlock" not in done.stderr + errors:
            complain(f"{name}: not exported")
        return None
    replayed = json.loads(done.stdout)["scenarios"][0]["elapsed"] * 1e9
    schedule = Schedule(goal)
    found = schedule.elapsed()
    if abs(found - replayed) > tolerance + 0.01:
        complain(f"{name}: the schedule takes {found} ns, the replay {replayed:.1f}")
    other = loggopsim(goal)
    # (It makes no progress in a nonblocking collective while the rank computes.)
    if other is not None and name != "collectives" and abs(other - found) > 0:
        complain(f"{name}: LogGOPSim takes {other} ns, not {found}")
    return schedule


random.seed(4)
for make, p in ((ring, 8), (halo, 8), (master, 8), (collectives, 7), (collectives, 8), (collectives, 2)):
    found = compare(make.__name__, written("program.txt", make(p).text()))
    if not found:
        complain(f"{make.__name__}: not compared")
    elif make == collectives and p == 7:
        # Ranks 6 and 2 are members 0 and 4 of communicator 1, and exchange 100 * |0 - 4| bytes in each of 3 rounds, by
        # whatever algorithm; nothing else has 400 bytes.
        sizes = [size for (source, target, _), (sends, _) in found.channels.items() for size, *_ in sends
                 if (source, target) == (6, 2)]
        if sizes.count(400) != 3:
            complain(f"Alltoallv: {sizes.count(400)} messages of 400 bytes from rank 6 to 2")


def peak(*words):
    """MiB; without memory that a sanitizer holds back."""
    child = subprocess.Popen([rubato, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             env={**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=0"})
    return os.wait4(child.pid, 0)[2].ru_maxrss / 1024


# 30 Alltoallv of 256 ranks that all send to one other: 30 * 256 * 256 parts of 8 bytes would be 15 MiB. Memory is for 30 *
# 256 members instead, beside that of a replay.
sparse = Program(256)
for rank in range(256):
    parts = " ".join("1KiB" if other == (rank + 1) % 256 else "0B" for other in range(256))
    for _ in range(30):
        sparse.call(rank, f"alltoallv 1KiB 1KiB parts {parts}")
trace = written("sparse.txt", sparse.text())
more = peak("export", trace, "--goal", "-", "--on", MACHINE) - peak("replay", trace, "--only", "--times-only", "--on", MACHINE)
if more > 5:
    complain(f"a schedule takes {more:.1f} MiB more than a replay")
for archive in archives:
    # Computation is rounded to ns between calls, each message leads to another rank's rounding.
    compare(archive, archive, tolerance=10)
if not shutil.which("LogGOPSim"):
    print("LogGOPSim is not in the PATH: not compared with it")
sys.exit(bad > 0)
