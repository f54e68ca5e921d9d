"""Schedules of MPI calls, and the two ways in which they are written down: as an OTF2 archive for Rubato and
as time-independent traces for SimGrid's replay. Neither is made from the other.

A schedule is a list of calls for each rank. Compute is in nanoseconds, sizes are bytes a rank as MPI has
them (of Alltoall and Allgather: of one block):

    ("compute", ns)
    ("send", to, bytes)          ("isend", to, bytes, tag)
    ("recv", from, bytes)        ("irecv", from, bytes, tag)        ("waitall",): all that are open
    ("barrier",)   ("bcast", bytes, root)   ("allreduce", bytes)   ("alltoall", bytes)   ("allgather", bytes)
"""
import random

import otf2
from otf2.enums import CollectiveOp, GroupType, LocationGroupType, LocationType, Paradigm, RegionRole

NO_ROOT = 0xFFFFFFFF
CALL_TICKS = 1000  # of a recorded call; models throw them away


def ring(ranks, laps, size, seed):
    """A token goes round: who has it computes, then passes it on."""
    lengths = random.Random(seed)
    calls = [[] for _ in range(ranks)]
    for _ in range(laps):
        for rank in range(ranks):
            work = [("compute", lengths.randrange(20_000, 200_000)), ("send", (rank + 1) % ranks, size)]
            take = [("recv", (rank - 1) % ranks, size)]
            calls[rank] += work + take if rank == 0 else take + work
    return calls


def halo(edge, steps, size, seed):
    """edge^3 ranks, periodic: compute, then a message to and from each of six neighbours."""
    lengths = random.Random(seed)
    ranks = edge ** 3
    calls = []
    for rank in range(ranks):
        at = [rank % edge, rank // edge % edge, rank // edge ** 2]
        to = []
        for direction in range(6):
            there = list(at)
            there[direction // 2] = (there[direction // 2] + (1 if direction % 2 else edge - 1)) % edge
            to.append(there[0] + edge * (there[1] + edge * there[2]))
        mine = []
        for _ in range(steps):
            mine.append(("compute", lengths.randrange(100_000, 2_000_000)))
            # Tags are the direction in which the message travels: d ^ 1 comes from where d goes to.
            mine += [("irecv", to[d], size, d ^ 1) for d in range(6)]
            mine += [("isend", to[d], size, d) for d in range(6)]
            mine.append(("waitall",))
        calls.append(mine)
    return calls


def in_step(ranks, steps, seed, *operations):
    """Each step: compute that is as long on all ranks, then these calls, each given the step's number."""
    lengths = random.Random(seed)
    calls = [[] for _ in range(ranks)]
    for step in range(steps):
        length = lengths.randrange(20_000, 200_000)
        for mine in calls:
            mine += [("compute", length)] + [operation(step) for operation in operations]
    return calls


def write_time_independent(calls, directory):
    """directory/list names one file a rank. A host of 1 Gflop/s computes a nanosecond a flop."""
    names = []
    for rank, mine in enumerate(calls):
        lines = ["init"]
        for kind, *rest in mine:
            if kind in ("send", "recv"):
                lines.append(f"{kind} {rest[0]} 0 {rest[1]}")
            elif kind in ("isend", "irecv"):
                lines.append(f"{kind} {rest[0]} {rest[2]} {rest[1]}")
            elif kind == "waitall":
                lines.append("waitall 0")  # of all that are open, whatever is said here
            elif kind == "allreduce":
                lines.append(f"allreduce {rest[0]} 0")
            elif kind in ("alltoall", "allgather"):
                lines.append(f"{kind} {rest[0]} {rest[0]}")
            else:
                lines.append(" ".join(map(str, (kind, *rest))))
        lines.append("finalize")
        name = directory / f"rank{rank}.txt"
        name.write_text("".join(f"{rank} {line}\n" for line in lines))
        names.append(str(name))
    (directory / "list").write_text("\n".join(names) + "\n")


class _RankWriter:
    """The records of one rank, as Score-P writes them."""

    def __init__(self, writer, regions, world, ranks):
        self.writer, self.regions, self.world, self.ranks = writer, regions, world, ranks
        self.time, self.request, self.open = 0, 0, []

    def call(self, name, *records):
        """Each record is a function that gets the time."""
        self.writer.enter(self.time, self.regions[name])
        for record in records:
            record(self.time)
        self.time += CALL_TICKS
        self.writer.leave(self.time, self.regions[name])

    def send(self, to, size):
        self.call("MPI_Send", lambda t: self.writer.mpi_send(t, to, self.world, 0, size))

    def recv(self, source, size):
        self.call("MPI_Recv", lambda t: self.writer.mpi_recv(t, source, self.world, 0, size))

    def isend(self, to, size, tag):
        self.request += 1
        number = self.request
        self.call("MPI_Isend", lambda t: self.writer.mpi_isend(t, to, self.world, tag, size, number))
        self.open.append(lambda t: self.writer.mpi_isend_complete(t, number))

    def irecv(self, source, size, tag):
        self.request += 1
        number = self.request
        self.call("MPI_Irecv", lambda t: self.writer.mpi_irecv_request(t, number))
        self.open.append(lambda t: self.writer.mpi_irecv(t, source, self.world, tag, size, number))

    def waitall(self):
        self.call("MPI_Waitall", *self.open)
        self.open = []

    def collective(self, name, operation, size, root=NO_ROOT):
        self.call(name, lambda t: self.writer.mpi_collective_begin(t),
                  lambda t: self.writer.mpi_collective_end(t, operation, self.world, root, *size))

    # Sizes are those to and from all members, the rank itself included.
    def barrier(self):
        self.collective("MPI_Barrier", CollectiveOp.BARRIER, (0, 0))

    def bcast(self, size, root, rank):
        self.collective("MPI_Bcast", CollectiveOp.BCAST, (size * self.ranks if rank == root else 0, size), root)

    def allreduce(self, size):
        self.collective("MPI_Allreduce", CollectiveOp.ALLREDUCE, (size * self.ranks,) * 2)

    def alltoall(self, size):
        self.collective("MPI_Alltoall", CollectiveOp.ALLTOALL, (size * self.ranks,) * 2)

    def allgather(self, size):
        self.collective("MPI_Allgather", CollectiveOp.ALLGATHER, (size * self.ranks,) * 2)


CALLS = ("Init", "Finalize", "Send", "Recv", "Isend", "Irecv", "Waitall", "Barrier", "Bcast", "Allreduce",
         "Alltoall", "Allgather")


def write_archive(calls, path):
    """The archive path/traces.otf2; a rank a node, a tick a nanosecond."""
    with otf2.writer.open(str(path), timer_resolution=10 ** 9) as trace:
        trace.creator = "peer_schedules"
        definitions = trace.definitions
        machine = definitions.system_tree_node("machine", class_name="machine")
        regions = {f"MPI_{name}": definitions.region(f"MPI_{name}", paradigm=Paradigm.MPI,
                                                     region_role=RegionRole.FUNCTION) for name in CALLS}
        locations = []
        for rank in range(len(calls)):
            node = definitions.system_tree_node(f"node{rank}", class_name="node", parent=machine)
            group = definitions.location_group(f"MPI Rank {rank}", system_tree_parent=node,
                                               location_group_type=LocationGroupType.PROCESS)
            locations.append(definitions.location("Master thread", group=group, type=LocationType.CPU_THREAD))
        definitions.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=locations)
        everybody = definitions.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI,
                                      members=locations)
        world = definitions.comm("MPI_COMM_WORLD", group=everybody)
        for rank, location in enumerate(locations):
            writer = _RankWriter(trace.event_writer_from_location(location), regions, world, len(calls))
            writer.call("MPI_Init")
            for kind, *rest in calls[rank]:
                if kind == "compute":
                    writer.time += rest[0]
                elif kind == "bcast":
                    writer.bcast(*rest, rank)
                else:
                    getattr(writer, kind)(*rest)
            writer.call("MPI_Finalize")
