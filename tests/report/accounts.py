#!/usr/bin/python3
"""One account of one run: replay, profile, info and diff say the same of an archive. Time by call and rank, number of
calls, lost cores, waits by kind, call and cause; a run compared with itself differs nowhere. And a file of
sums (--no-archive --report) says the same of late receivers as an archive of that program.

    accounts.py RUBATO

The archives: text traces below, in which each kind of call loses its core, and those of ../shared, if they are there.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

rubato = pathlib.Path(sys.argv[1]).resolve()
shared = pathlib.Path(__file__).resolve().parents[3] / "shared"

# Blocking and nonblocking messages, collectives, a probe and polls, a join, a flush, a time without recording.
LOSSES = """
nodes 0 0 1
one_clock
0: 0..10 init
1: 0..10 init
2: 0..10 init
0: 20..120 send 1 1000B lost 30
1: 30..130 recv 0 1000B lost 20 flushed 10
1: 140..150 isend 2 8B req 1
2: 100..400 probe 1 tag 0 any_source lost 40
2: 402..406 local MPI_Get_count lost 2
2: 410..420 recv 1 8B
1: 300..500 wait 1 lost 50
0: 600..700 barrier stolen 60
1: 650..700 barrier lost 5
2: 690..700 barrier
0: 710..720 irecv 2 8B req 1
0: 730..735 local MPI_Test
0: 740..745 local MPI_Test
0: 750..755 local MPI_Test
0: 760..766 test 1
2: 752..753 send 0 8B
0: 800 create 7
0.1: 810 begin 7
0.1: 820..830 local MPI_Comm_rank
0.1: 1000 end 7
0: 850..1500 join 7 lost 300
0: 1600..1700 sendrecv 2 8B 2 16B lost 20
2: 1550..1700 sendrecv 0 16B 0 8B
"""
# And a long loop of polls: 300, of 10 each.
LOSSES += "".join(f"1: {2000 + 20 * poll}..{2010 + 20 * poll} local MPI_Iprobe\n" for poll in range(300))
LOSSES += """
2: 7000..7010 send 1 8B
1: 8000..8005 recv 2 8B
0: 9000..9010 finalize
1: 9000..9010 finalize
2: 9000..9010 finalize
"""


def run(*words):
    done = subprocess.run([rubato, *words], capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)
    return json.loads(done.stdout)


def same(what, one, other):
    assert abs(one - other) <= 1e-6 * max(abs(one), abs(other)) + 1e-12, (what, one, other)


OUTSIDE = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize"}


def check(archive):
    only = ("--only", "--on", "measured", "--json", "-")
    info = run("info", archive, "--json")["trace"]
    replay = run("replay", archive, *only)
    profile = run("profile", archive, "--json", "-")["scenarios"][0]
    [scenario] = replay["scenarios"]
    if scenario["elapsed"] == 0:  # rubato diff refuses a run that takes no time
        return
    diff = run("diff", archive, "--on", "measured", archive, "--on", "measured", "--json", "-")

    same("elapsed of info", scenario["elapsed"], info["elapsed"])
    same("elapsed of profile", scenario["elapsed"], profile["elapsed"])
    same("elapsed of diff", scenario["elapsed"], diff["new"]["elapsed"])
    ranks = list(zip(scenario["ranks"], profile["ranks"]))
    assert len(scenario["ranks"]) == len(profile["ranks"]) == info["ranks"]
    for mine, theirs in ranks:
        for key in ("compute", "mpi", "flushing", "not_recorded", "lost_core", "before", "after"):
            same(f"{key} of profile", mine[key], theirs[key])
    total = collections.Counter()
    for mine, _ in ranks:
        for key in ("compute", "mpi", "flushing", "not_recorded", "lost_core"):
            total[key] += mine[key]
    # (MPI_Initialized and others may be called before MPI_Init.)
    before = sum(call.get("outside", 0) for _, theirs in ranks for name, call in theirs["calls"].items()
                 if name not in OUTSIDE)
    same("MPI of info", total["mpi"] + before, info["mpi_time"])

    times, counts = collections.Counter(), collections.Counter()
    for mine, _ in ranks:
        for name, call in mine["calls"].items():
            times[name] += call["time"]
            counts[name] += call["calls"]
    for name in set(times) - OUTSIDE:
        call = profile["calls"][name]
        outside = sum(rank["calls"].get(name, {}).get("outside", 0) for _, rank in ranks)
        same(f"{name} of profile", times[name], call["time"] + outside)
        assert counts[name] == call["calls"], name
    assert set(profile["calls"]) <= set(times)

    waits = sum(sum(mine["waits"].values()) for mine, _ in ranks if mine["waits"])
    same("waits of profile by call", waits, sum(sum((c["waits"] or {}).values()) for c in profile["calls"].values()))
    if profile["causes"]:
        same("waits of profile by cause", waits, sum(wait["time"] for wait in profile["causes"]["waits"]))
    if profile["places"]:
        same("waits of profile by place", waits, sum(wait["time"] for wait in profile["places"]["waits"]))

    left_out = {name for name, time in times.items() if time > 0} - set(diff["by_call"]) - OUTSIDE
    assert all(times[name] <= sum(rank["calls"][name]["outside"] for _, rank in ranks if name in rank["calls"]) + 1e-12
               for name in left_out), left_out
    names = {"compute": "compute", "lost core": "lost_core", "tracer's flushes": "flushing",
             "switched off": "not_recorded"}
    for name, pair in diff["by_call"].items():
        same(f"{name} of diff, twice", pair["old"], pair["new"])
        if name in names:
            same(f"{name} of diff", total[names[name]], pair["new"])
        else:
            outside = sum(rank["calls"].get(name, {}).get("outside", 0) for _, rank in ranks)
            same(f"{name} of diff", times[name], pair["new"] + outside)
            assert counts[name] == pair["new_calls"], (name, counts[name], pair)
    assert all(names[name] not in total or total[names[name]] < 1e-9 or name in diff["by_call"] for name in names)
    # Levels of messages are those of the machine, in both.
    used = {level for level, traffic in scenario["traffic"].items() if traffic["messages"]}
    assert used <= set(diff["by_level"]), (used, set(diff["by_level"]))
    # And so are sizes: those of messages, whatever else their call does.
    sizes = collections.defaultdict(set)
    for _, rank in ranks:
        for name, call in rank["calls"].items():
            sizes[name] |= {1 << size["size"].bit_length() >> 1 for size in call["sizes"]}
    for row in diff["by_size"]:
        if row["call"] in ("MPI_Send", "MPI_Recv", "MPI_Sendrecv", "MPI_Isend", "MPI_Irecv") and row["bytes"]:
            assert row["bytes"] in sizes[row["call"]], (row, sizes[row["call"]])


# Rank 0 completes 10 sends of 1 MB in each way; their receives are posted 4 ms late.
LATE_RECEIVERS = """
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
enum { kBytes = 1000000 };
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, one = 0, which;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* data = calloc(kBytes, 1);
  char small[8] = "";
  for (int i = 0; i < 30; ++i) {
    MPI_Request r[2];
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
      usleep(4000);
      MPI_Recv(data, kBytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(small, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Isend(data, kBytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &r[0]);
      MPI_Isend(small, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &r[1]);
      if (i % 3 == 1) MPI_Waitsome(1, r, &one, &which, MPI_STATUSES_IGNORE);
      if (i % 3 == 2) do MPI_Test(r, &one, MPI_STATUS_IGNORE); while (!one);
      MPI_Waitall(i % 3 ? 1 : 2, i % 3 ? r + 1 : r, MPI_STATUSES_IGNORE);
    }
  }
  return MPI_Finalize();
}
"""
WAYS = ("MPI_Waitall", "MPI_Waitsome", "MPI_Test")


def late_receivers(flavour, directory, tries=12):
    """Compares both accounts; the two runs differ when ranks lose their cores, so there are several tries."""
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")
    (directory / "late.c").write_text(LATE_RECEIVERS)
    subprocess.run([f"mpicc.{flavour}", "-o", "late", "late.c"], cwd=directory, check=True, capture_output=True)
    for left in reversed(range(tries)):
        out = f"{flavour}-{left}"
        for options in (["--no-archive", "--report", f"sums-{out}.json"], ["-o", f"run-{out}"]):
            subprocess.run([f"mpirun.{flavour}", "-n", "2", rubato, "trace", *options, "./late"], cwd=directory,
                           env=environment, check=True, capture_output=True, timeout=100)
        rank = json.loads((directory / f"sums-{out}.json").read_text())["ranks"][0]
        sums_file = {row["call"]: (row["waits"] or {}).get("late_receiver", 0) for row in rank["calls"]}
        profile = run("profile", directory / f"run-{out}", "--json", "-")["scenarios"][0]["ranks"][0]["calls"]
        archive = {name: (call["waits"] or {}).get("late_receiver", 0) for name, call in profile.items()}
        # 10 x 4 ms each, less what rank 0 lost of its core, as both say. Of tests, what lies in them.
        sums = sorted(sum(account[way] for way in WAYS) for account in (sums_file, archive))
        good = all(0.005 < account[way] < 0.08 for way in WAYS for account in (sums_file, archive))
        if good and sums[1] < 1.5 * sums[0]:
            return
    raise AssertionError((flavour, [(way, sums_file[way], archive[way]) for way in WAYS]))


checked = 0
with tempfile.TemporaryDirectory() as directory:
    trace = pathlib.Path(directory) / "losses.txt"
    trace.write_text(LOSSES)
    check(trace)
    checked += 1
    for flavour in ("openmpi", "mpich"):
        if (rubato.parents[1] / f"lib/rubato/librubato-trace-{flavour}.so").exists():
            late_receivers(flavour, pathlib.Path(directory))
# An archive that no reader supports (README.md there), and outputs of other programs.
REFUSED = {"otf2-integrity", "strangers"}
for archive in sorted([*shared.glob("traces/*/*.otf2"), *shared.glob("cases/*/*.txt")]):
    if archive.parent.name in REFUSED:
        continue
    try:
        check(archive)
    except AssertionError as error:
        raise AssertionError(archive) from error
    checked += 1
print(f"{checked} archives: all commands agree")
