#!/usr/bin/env python3
"""`rubato diff` as a gate: diff.py RUBATO. Text traces of known lengths, with the arithmetic."""
import csv
import io
import json
import math
import os
import subprocess
import sys
import tempfile

rubato = os.path.abspath(sys.argv[1])
os.chdir(tempfile.mkdtemp())


def program(name, work, stolen=0, size=8, rounds=5, ranks=2):
    """A trace of `rounds` rounds, in which rank 0 computes 100 us in assemble(), rank 1 `work` us of at least 100, and a
    barrier takes 10 us beyond the last: work + 10 a round. The last rank also waits `stolen` us for a core, once."""
    lines = ["".join(f"{rank}: 0..0 init\n" for rank in range(ranks))]
    time = 0
    for i in range(rounds):
        lost = stolen if i == 1 else 0
        end = time + work + lost + 10
        for rank in range(ranks):
            own = 100 if rank < ranks - 1 else work
            lines.append(f"{rank}: {time * 1000}..{(time + own) * 1000} function assemble\n")
            enter = time + own + (lost if rank == ranks - 1 else 0)
            words = f" stolen {lost * 1000}" if lost and rank == ranks - 1 else ""
            lines.append(f"{rank}: {enter * 1000}..{end * 1000} allreduce {size}B {size}B{words}\n")
        time = end
    lines.append("".join(f"{rank}: {time * 1000}..{time * 1000} finalize\n" for rank in range(ranks)))
    with open(name, "w", encoding="utf-8") as file:
        file.write("".join(lines))


def diff(code, *words):
    done = subprocess.run([rubato, "diff", *words], capture_output=True, text=True, check=False)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def numbers(*words, code=0):
    return json.loads(diff(code, *words, "--json", "-"))


def near(value, expected, tolerance=1e-6):
    assert abs(value - expected) <= tolerance, (value, expected)


program("old.txt", 100)        # 5 * 110 = 550 us
program("slow.txt", 111)       # 5 * 121 = 605 us: 10 % longer
program("old2.txt", 101)       # 555
program("old3.txt", 102)       # 560
program("busy.txt", 100, stolen=55)  # 605 as recorded, 550 without the time that rank 1 had no core

# Equal runs: six lines, nothing found. One run each: compute is assumed to vary by 1 %, so 1.96 * 1 % of 500 us each
# (9.8 / 550), together 2.52 %.
text = diff(0, "old.txt", "old.txt", "--fail-above", "3%")
assert [line.split(":")[0] for line in text.splitlines()] == \
    ["Elapsed", "Compute", "MPI", "Calls", "Gate", "Next"], text
assert "recording old.txt" in text and "prediction" not in text.lower() and "passed, at most 3 %" in text, text
same = numbers("old.txt", "old.txt")
near(same["slowdown"]["high"], math.sqrt(2) * 9.8 / 550)
assert same["gap"] == 0 and same["gate"] is None and not same["slowdown"]["beyond_noise"]
# The same, but a limit within this range cannot be decided, which is no failure.
text = diff(0, "old.txt", "old.txt", "--fail-above", "1%")
assert "not certain to be below 1 %" in text and "rubato trace --runs 3" in text, text

# 10 % longer, ±1.1 * sqrt((9.8 / 550)² + (1.96 % of 555 / 605)²) = 2.78 %: from 7.2 to 12.8 %.
text = diff(3, "old.txt", "slow.txt", "--fail-above", "3%")
assert "failed, more than 3 % slower: +10.0 % ±2.8 %" in text, text
# 5 * 11 us more on rank 1, in assemble(); rank 0 waits for it as long: 27.5 us in the mean rank.
assert "+27.50 µs in the mean rank; +55.00 µs on rank 1; +55.00 µs in assemble" in text, text
assert "+27.50 µs in MPI_Allreduce, +27.50 µs of it waiting for rank 1" in text, text
# (8 B to two ranks are a payload of 4 B, as in profiles.)
assert "first over 5.500 µs behind: before rank 1, MPI_Allreduce of 4 B at 111.0 µs" in text, text
diff(3, "old.txt", "slow.txt", "--fail-above", "7.1 %")
diff(0, "old.txt", "slow.txt", "--fail-above", "7.3%")
found = numbers("old.txt", "slow.txt", "--fail-above", "7.3%")
assert found["gate"] == {"limit": 0.073, "result": "undecided"}, found["gate"]
near(found["slowdown"]["share"], 0.1)
near(found["slowdown"]["high"] - 0.1, 1.1 * math.hypot(9.8 / 550, 0.0196 * 555 / 605))
near(found["summary"]["compute"]["on_rank"], 55e-6, 1e-12)
assert found["summary"]["compute"]["rank"] == 1 and found["summary"]["compute"]["function"] == "assemble"
assert found["by_call"]["MPI_Allreduce"]["old_calls"] == 10
near(found["by_call"]["MPI_Allreduce"]["gap"], 55e-6, 1e-12)
# 70 functions on each of two ranks, 1 us each, 2 us in the new run; halved by a processor of twice the speed.
for name, own in (("many", 1), ("more", 2)):
    with open(name + ".txt", "w", encoding="utf-8") as file:
        for rank in range(2):
            file.write(f"{rank}: 0..0 init\n")
            for f in range(70):
                file.write(f"{rank}: {1000 * own * f}..{1000 * own * (f + 1)} function f{f}\n")
            file.write(f"{rank}: {70000 * own}..{70000 * own + 10} allreduce 8B 8B\n{rank}: {150000} finalize\n")
pairs = numbers("many.txt", "more.txt", "--functions")["by_function"]
assert len(pairs) == 70, pairs
for pair in pairs.values():
    near(pair["old"], 2e-6)
    near(pair["new"], 4e-6)
assert sum(line.startswith("f") and line[1].isdigit() for line in diff(0, "many.txt", "more.txt", "--functions", "--all").splitlines()) == 70
pairs = numbers("many.txt", "--on", "measured:cpu*2", "more.txt", "--functions")["by_function"]
near(pairs["f69"]["old"], 1e-6)
near(pairs["f69"]["new"], 4e-6)
# The other way round it is 9.1 % shorter.
assert "passed" in diff(0, "slow.txt", "old.txt", "--fail-above", "0%")

# Repeated runs: 550, 555, 560, mean 555, deviations of 5 / 555 = 0.9009 %, Student's t for 2 degrees 4.302653.
# 605 / 555 = 1.09009: 9.009 %, ±1.09009 * 4.302653 * 0.9009 % * sqrt(1/3 + 1) = 4.879 %.
found = numbers("old.txt", "old2.txt", "old3.txt", "slow.txt", "--fail-above", "4.1%", code=3)
near(found["slowdown"]["share"], 605 / 555 - 1)
near(found["slowdown"]["spread"], 5 / 555)
near(found["slowdown"]["low"], 605 / 555 * (1 - 4.302653 * 5 / 555 * math.sqrt(4 / 3)) - 1)
assert found["old"]["shown"] == "old2.txt" and len(found["old"]["runs"]) == 3  # that of median time
# Two new runs: 605 and 605, 3 degrees of freedom, t = 3.182446, s² = 2 (5 / 555)² / 3.
runs = ("old.txt", "old2.txt", "old3.txt", "--new", "slow.txt", "--new", "slow.txt")
found = numbers(*runs)
half = 605 / 555 * 3.182446 * 5 / 555 * math.sqrt(2 / 3) * math.sqrt(1 / 3 + 1 / 2)
near(found["slowdown"]["high"] - found["slowdown"]["share"], half)
# With n runs of each side the interval is ±1.09009 t s sqrt(2/n), s = 0.736 %: 1.17 % for 5 runs, 1.03 % for 6, 0.93 %
# for 7. It has to exclude 8 %, which is 1.009 % away.
text = diff(0, *runs, "--fail-above", "8%")
assert "about 7 runs of each side decide" in text, text

# Lost cores: 10 % longer as recorded, equal without.
text = diff(0, "old.txt", "busy.txt", "--fail-above", "3%")
assert text.startswith("Elapsed: 0.0 %"), text
assert "other programs took up to 4.5 % of a run's time" in text, text  # 27.5 of 605 in the mean rank
assert "as recorded: 550.0 µs → 605.0 µs" in text and len(text.splitlines()) <= 9, text
assert "+10.0 %" in diff(3, "old.txt", "--on", "measured", "busy.txt", "--on", "measured", "--fail-above", "3%")
assert "+10.0 %" in diff(3, "old.txt", "busy.txt", "--keep-stolen", "--fail-above", "3%")

# Predictions are called so.
text = diff(0, "slow.txt", "--on", "perfect", "slow.txt")
assert "prediction of slow.txt on perfect, 555.0 µs → recording slow.txt, 605.0 µs" in text, text
# On one machine, the model's error is that of both: what remains is compute.
found = numbers("old.txt", "--on", "perfect", "slow.txt", "--on", "perfect")
near(found["slowdown"]["share"], 555 / 500 - 1)
near(found["slowdown"]["high"] - 0.11, 1.11 * math.sqrt(2) * 0.0196)
assert found["old"]["kind"] == found["new"]["kind"] == "prediction"

# More messages, other sizes.
program("large.txt", 100, size=64)
assert "0 match, 10 differ; first difference: rank 0, MPI_Allreduce of 32 B" in diff(0, "old.txt", "large.txt")

rows = list(csv.DictReader(io.StringIO(diff(0, "old.txt", "slow.txt", "--csv", "-"))))
assert [row["kind"] for row in rows[:3]] == ["old_run", "new_run", "elapsed"], rows
near(float(rows[2]["gap_s"]), 55e-6, 1e-12)
calls = [row for row in rows if row["kind"] == "call"]
ranks = [row for row in rows if row["kind"] == "rank"]
near(sum(float(row["gap_s"]) for row in calls), sum(float(row["gap_s"]) for row in ranks), 1e-12)

# What cannot be compared.
program("three.txt", 100, ranks=3)
assert diff(1, "old.txt", "three.txt").count("\n") == 1
with open("other.txt", "w", encoding="utf-8") as other:
    other.write("".join(f"{r}: {20 * i}..{20 * i + 5} {'send 1' if r == 0 else 'recv 0'} 8B\n"
                        for i in range(20) for r in (0, 1)))
text = diff(1, "old.txt", "other.txt")
assert "not runs of the same program" in text and text.count("\n") == 1, text
for words in ("3", "x%", "-1%", "%"):
    assert "--fail-above" in diff(2, "old.txt", "old.txt", "--fail-above", words)
assert "need the same --on" in diff(2, "old.txt", "old2.txt", "--on", "perfect", "slow.txt")
# A file without times has no recorded length; predictions differ by the latency of a message: 0.5 and 1 ms.
with open("untimed.txt", "w", encoding="utf-8") as file:
    file.write("nodes 0 1\n0: 0..0 send 1 8B\n1: 0..0 recv 0 8B\n")
found = numbers("untimed.txt", "--on", "bandela:latency=500us", "untimed.txt", "--on", "bandela:latency=1ms")
near(found["slowdown"]["share"], 1)
print("passed")
