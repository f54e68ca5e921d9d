#!/usr/bin/python3
"""What rubato profile counts in archives that other tracers wrote is what python3-otf2 counts: calls by name, sends
and receives with their bytes by rank and call, the matrices SIZE and REQUEST, and the collectives' bytes. Rows of a rank
add up to Elapsed, and all messages that are matched are received with as many bytes as were sent.

Called with the build directory, and the folder of archives if that is not ../shared/traces beside the checkout.
"""
import collections
import json
import math
import pathlib
import subprocess
import sys

rubato = pathlib.Path(sys.argv[1]).resolve() / "bin" / "rubato"
archives = pathlib.Path(__file__).resolve().parents[4] / "shared" / "traces"
if len(sys.argv) > 2:
    archives = pathlib.Path(sys.argv[2])
if not archives.is_dir():
    print("SKIP: there is no ../shared/traces")
    sys.exit(77)
try:
    import otf2
    from otf2 import events
except ImportError:
    print("SKIP: python3-otf2 is not installed")
    sys.exit(77)

# Archives that no reader supports: refused, or without the data to distinguish receives (README.md there).
ODD = {"otf2-integrity": "it defines no communicators",
       "eztrace-lammps-4": "requests are addresses, and receives are missing",
       "eztrace-npb-is-4": "requests are addresses, and receives are missing"}
ROOTED = {"BCAST", "SCATTER", "SCATTERV", "GATHER", "GATHERV", "REDUCE"}
MOVES_NOTHING = {"BARRIER", "CREATE_HANDLE", "DESTROY_HANDLE", "ALLOCATE", "DEALLOCATE", "CREATE_HANDLE_AND_ALLOCATE",
                 "DESTROY_HANDLE_AND_DEALLOCATE"}


class Counts:
    def __init__(self):
        self.calls = collections.Counter()
        self.sends, self.bytes_sent = collections.Counter(), collections.Counter()
        self.receives, self.bytes_received = collections.Counter(), collections.Counter()
        self.size, self.requests = collections.Counter(), collections.Counter()
        self.received_from = collections.Counter()

    def send(self, call, peer, size):
        self.sends[call] += 1
        self.bytes_sent[call] += size
        self.size[peer] += size
        self.requests[peer] += 1

    def receive(self, call, peer, size):
        self.receives[call] += 1
        self.bytes_received[call] += size
        self.received_from[peer] += size


def count(path):
    """By rank; and whether collectives follow Score-P's convention."""
    counts = collections.defaultdict(Counts)
    with otf2.reader.open(str(path)) as trace:
        worlds = [group for group in trace.definitions.groups
                  if group.group_type == otf2.GroupType.COMM_LOCATIONS and group.paradigm == otf2.Paradigm.MPI]
        if not worlds:
            return None
        world = worlds[0]
        locations = [getattr(member, "_ref", member) for member in world.members]
        rank_of = {location: rank for rank, location in enumerate(locations)}

        def world_rank(communicator, rank, me):
            group = communicator.group
            if group.group_type == otf2.GroupType.COMM_SELF:
                return me
            if group.group_type == otf2.GroupType.COMM_LOCATIONS:
                return rank
            return getattr(group.members[rank], "_ref", group.members[rank])

        stacks = collections.defaultdict(list)
        posted = {}
        for location, event in trace.events:
            if location._ref not in rank_of:
                continue
            me = rank_of[location._ref]
            own, stack = counts[me], stacks[me]
            kind = type(event)
            call = next((name for name, is_mpi in reversed(stack) if is_mpi), None)
            if kind is events.Enter:
                name = event.region.name
                is_mpi = event.region.paradigm == otf2.Paradigm.MPI and name.startswith("MPI_")
                stack.append((name, is_mpi))
                own.calls[name] += is_mpi
            elif kind is events.Leave:
                stack.pop()
            elif kind in (events.MpiSend, events.MpiIsend):
                own.send(call, world_rank(event.communicator, event.receiver, me), event.msg_length)
            elif kind is events.MpiRecv:
                own.receive(call, world_rank(event.communicator, event.sender, me), event.msg_length)
            elif kind is events.MpiIrecvRequest:
                posted[me, event.request_id] = call
            elif kind is events.MpiIrecv:
                own.receive(posted.pop((me, event.request_id)), world_rank(event.communicator, event.sender, me),
                            event.msg_length)
            elif kind is events.MpiCollectiveEnd:
                collective(own, call, event, me, world_rank)
    return counts


def collective(own, call, event, me, world_rank):
    """Score-P counts for all members: a root of a broadcast sends to each, itself included."""
    op = str(event.collective_op).split(".")[-1]
    if op in MOVES_NOTHING:
        return
    sent, received = event.size_sent, event.size_received
    is_root = op in ROOTED and world_rank(event.communicator, event.root, me) == me
    gives = op in ("BCAST", "SCATTER", "SCATTERV")
    if op in ROOTED:
        sends = is_root == gives
        # One vector, whatever the number of members.
        if op == "BCAST" and is_root:
            sent = received
        if op == "REDUCE" and is_root:
            received = sent
    if op not in ROOTED or sends:
        own.sends[call] += 1
        own.bytes_sent[call] += sent
    if op not in ROOTED or not sends:
        own.receives[call] += 1
        own.bytes_received[call] += received


def nonzero(counter):
    return {key: value for key, value in counter.items() if value}


def check(anchor):
    name = anchor.parent.name
    run = subprocess.run([rubato, "profile", anchor, "--json", "-"], capture_output=True, text=True, timeout=300)
    if name == "otf2-integrity":
        assert run.returncode == 1 and "communicator 0 is not defined" in run.stderr, run.stderr
        return "refused: " + ODD[name]
    assert run.returncode == 0, run.stderr
    data = json.loads(run.stdout)
    scenario = data["scenarios"][0]
    for rank in scenario["ranks"]:
        rows = [rank[key] for key in ("compute", "overhead", "flushing", "not_recorded", "lost_core", "before", "after")]
        rows += [call["time"] for call in rank["calls"].values()]
        elapsed = rank["threads"] * scenario["elapsed"]
        assert math.isclose(math.fsum(rows), elapsed, rel_tol=1e-9, abs_tol=1e-12), (rank["rank"], rows, elapsed)
    if name in ODD:
        return "rows add up; not counted: " + ODD[name]
    counts = count(anchor)
    if counts is None:
        return "rows add up; it says of no location that it calls MPI"
    for rank in scenario["ranks"]:
        expected = counts[rank["rank"]]
        for key in ("calls", "sends", "bytes_sent", "receives", "bytes_received"):
            got = {call: values[key] for call, values in rank["calls"].items() if values[key]}
            assert got == nonzero(getattr(expected, key)), (rank["rank"], key, got, nonzero(getattr(expected, key)))
        for key in ("size", "requests"):
            got = {peer["peer"]: peer[key] for peer in rank["peers"] if peer[key]}
            assert got == nonzero(getattr(expected, key)), (rank["rank"], key, got, getattr(expected, key))
    sent = sum(sum(each.size.values()) for each in counts.values())
    received = sum(sum(each.received_from.values()) for each in counts.values())
    trace = data["trace"]
    if trace["unmatched_sends"] + trace["unmatched_receives"] == 0:
        assert sent == received, (sent, received)
    messages = sum(sum(each.requests.values()) for each in counts.values())
    calls = sum(sum(each.calls.values()) for each in counts.values())
    return f"{calls} calls, {messages} messages of {sent} bytes, as python3-otf2 counts them"


failed = 0
for path in sorted(archives.glob("*/*.otf2")):
    try:
        print(f"{path.parent.name}: {check(path)}")
    except Exception as error:  # one bad archive must not hide the others
        print(f"FAIL {path.parent.name}: {error!r}"[:2000])
        failed = 1
sys.exit(failed)
