#!/usr/bin/env python3
"""Archives that other tracers wrote (Score-P 1.3 to 9.0, EZTrace): `measured` gives every record back to
the tick, `perfect` is not slower, threads change nothing, the logical clock leaves no call that ends before
its cause, rows of a rank add up to Elapsed, the one that cannot be replayed is refused by name, and copies
(--otf2) hold the same records: of `measured` at the same times, of others with every message in order.

Called with the build directory. The archives lie beside the checkout and are no part of it.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

rubato = pathlib.Path(sys.argv[1]) / "bin" / "rubato"
archives = pathlib.Path(__file__).resolve().parents[4] / "shared" / "traces"
if not archives.is_dir():
    print("SKIP: there is no ../shared/traces")
    sys.exit(77)


def records_of(anchor):
    """Event records as otf2-print lists them: NAME, location, time, the rest."""
    listing = subprocess.run(["otf2-print", anchor], capture_output=True, text=True).stdout
    return len(re.findall(r"^[A-Z][A-Z0-9_]+ +\d+ +\d+", listing, re.MULTILINE))


def listing_of(anchor):
    """All that otf2-print says of definitions and events but for the headline."""
    lines = []
    for words in (["-G"], []):
        listing = subprocess.run(["otf2-print", *words, anchor], capture_output=True, text=True)
        lines += [line for line in listing.stdout.splitlines() if not line.startswith("=== ")]
    return lines


def early_receives(anchor):
    """Messages whose receive is recorded before their send, of how many."""
    pattern = re.compile(r"^MPI_I?(?:SEND|RECV) +(\d+) +(\d+) +(Receiver|Sender): \d+ \(.*?<(\d+)>\), "
                         r"Communicator: .*?<(\d+)>, Tag: (\d+)")
    channels = {}
    for line in listing_of(anchor):
        record = pattern.match(line)
        if record is None:
            continue
        own, time, side, peer, comm, tag = record.groups()
        channel = (own, peer, comm, tag) if side == "Receiver" else (peer, own, comm, tag)
        channels.setdefault(channel, ([], []))[side == "Sender"].append(int(time))
    pairs = [pair for sent, received in channels.values() for pair in zip(sent, received)]
    return sum(received < sent for sent, received in pairs), len(pairs)


def copied(anchor):
    """Copies of the archive: the recording is the same, and messages arrive behind their sends."""
    with tempfile.TemporaryDirectory() as directory:
        same, others = pathlib.Path(directory) / "same", pathlib.Path(directory) / "others"
        for words in (["--only", "--on", "measured", "--clocks", "corrected", "--otf2", same],
                      ["--on", "infiniband-hdr", "--otf2", others]):
            run = subprocess.run([rubato, "replay", anchor, *words], capture_output=True, text=True, timeout=300)
            assert run.returncode == 0, run.stderr
        assert listing_of(same / "measured" / anchor.name) == listing_of(anchor), "the copy of measured differs"
        messages = 0
        for scenario in "measured", "infiniband-hdr", "perfect":
            early, messages = early_receives(others / scenario / anchor.name)
            assert early == 0, (scenario, early)
        return f"copies with {messages} messages in order"


def repaired(trace):
    repair = trace["clock_repair"]
    if repair is None:
        assert trace["clock_violations"] == 0, trace["clock_violations"]
        return "no early call"
    assert repair["messages_after"] + repair["collectives_after"] == 0, repair
    return (f"{repair['messages_before']} early messages and {repair['collectives_before']} early collectives "
            f"repaired on {repair['ranks']} ranks, by up to {repair['largest_shift'] * 1e6:.6g} us")


def rows_add_up(scenario):
    """To Elapsed, once for each thread that calls MPI."""
    for rank in scenario["ranks"]:
        rows = sum(rank[key] for key in ("compute", "mpi", "flushing", "not_recorded", "lost_core", "before", "after"))
        elapsed = rank["threads"] * scenario["elapsed"]
        assert abs(rows - elapsed) <= 1e-9 * elapsed + 1e-12, (scenario["name"], rank["rank"], rows, elapsed)


def check(anchor):
    command = [rubato, "replay", anchor, "--on", "measured", "--on", "perfect", "--verify", "--json", "-"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    # However many threads decode it, results (and what is wrong) are the same.
    several = subprocess.run(command + ["--threads", "3"], capture_output=True, text=True, timeout=300)
    assert (several.returncode, several.stdout, several.stderr) == (run.returncode, run.stdout, run.stderr)
    if anchor.parent.name == "otf2-integrity":
        assert run.returncode == 1, run.returncode
        assert "event 2 (MPI_SEND): communicator 0 is not defined" in run.stderr, run.stderr
        return "refused: it defines no communicators"
    assert run.returncode == 0, run.stderr
    results = json.loads(run.stdout)
    identity = results["identity"]
    assert identity["differing"] == 0, identity
    assert identity["records"] == records_of(anchor), (identity, records_of(anchor))
    measured, perfect = results["scenarios"][:2]
    for scenario in measured, perfect:
        rows_add_up(scenario)
    assert not perfect["deadlock"], perfect["deadlock"]
    assert perfect["elapsed"] <= measured["elapsed"] * (1 + 1e-12)
    return (f"{identity['records']} records to the tick, measured {measured['elapsed']:.6g} s, "
            f"perfect {perfect['elapsed']:.6g} s, {repaired(results['trace'])}, {copied(anchor)}")


failed = 0
for path in sorted(archives.glob("*/*.otf2")):
    try:
        print(f"{path.parent.name}: {check(path)}")
    except Exception as error:  # one bad archive must not hide the others
        print(f"FAIL {path.parent.name}: {error!r}")
        failed = 1
sys.exit(failed)
