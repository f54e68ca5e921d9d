#!/usr/bin/python3
"""Opens an archive with python3-otf2 and checks what every archive of ours has to keep:

* enter and leave nest, time does not run backwards on a location;
* records of messages, requests and collectives lie inside a region;
* every message sent is received, in order, with the same length (--unmatched N allows N without partner);
* a request is posted before it completes, and completes once per posting, as what it was posted as;
* a thread is created, begins, ends and is waited for in this order;
* a window is made before it is used, and only once; what is done on it comes to its end on both sides;
* the number of events of each location is what its definition says.
"""
import collections
import sys

import otf2
from otf2 import events

unmatched_allowed = 0
arguments = sys.argv[1:]
if arguments[0] == '--unmatched':
    unmatched_allowed = int(arguments[1])
    arguments = arguments[2:]


COMPLETED_BY = {
    events.MpiIsend: events.MpiIsendComplete,
    events.MpiIrecvRequest: events.MpiIrecv,
    events.NonBlockingCollectiveRequest: events.NonBlockingCollectiveComplete,
}


# Allowed predecessors.
THREAD_STEPS = {
    events.ThreadCreate: [None],
    events.ThreadBegin: [None, events.ThreadCreate],  # where the creating thread has no location
    events.ThreadEnd: [events.ThreadBegin],
    events.ThreadWait: [events.ThreadEnd],
}


def fail(message):
    sys.exit(f'{arguments[0]}: {message}')


def world_rank(communicator, rank, me):
    """Rank of a communicator as one of MPI_COMM_WORLD; `me` for the self-like ones."""
    group = communicator.group
    if group.group_type == otf2.GroupType.COMM_SELF:
        return me
    member = group.members[rank]
    return getattr(member, '_ref', member)


def check(path):
    with otf2.reader.open(path) as trace:
        threads = collections.defaultdict(lambda: None)
        stacks = collections.defaultdict(list)
        last = collections.defaultdict(int)
        events_of = collections.Counter()
        open_requests = collections.defaultdict(dict)
        windows = collections.defaultdict(set)
        destroyed = collections.defaultdict(set)  # until the collective that destroys them ends
        operations = collections.defaultdict(dict)
        sent = collections.defaultdict(list)
        received = collections.defaultdict(list)
        for location, event in trace.events:
            me = location._ref & 0xffffffff
            events_of[location._ref] += 1
            if event.time < last[location._ref]:
                fail(f'location {location._ref}: time runs backwards at {event.time}')
            last[location._ref] = event.time
            kind = type(event)
            if kind is events.Enter:
                stacks[location._ref].append(event.region.name)
            elif kind is events.Leave:
                if not stacks[location._ref] or stacks[location._ref].pop() != event.region.name:
                    fail(f'location {location._ref}: leave {event.region.name} without enter')
            elif kind not in (events.ProgramBegin, events.ProgramEnd, events.MeasurementOnOff,
                              events.BufferFlush, events.ThreadBegin, events.ThreadEnd, events.Metric,
                              events.CallingContextSample):
                if not stacks[location._ref]:
                    fail(f'location {location._ref}: {kind.__name__} outside of a region')
            if kind in THREAD_STEPS:
                thread = (event.thread_contingent._ref, event.sequence_count)
                if threads[thread] not in THREAD_STEPS[kind]:
                    fail(f'{kind.__name__} of thread {thread} behind {threads[thread]}')
                threads[thread] = kind
            if kind in (events.MpiIsend, events.MpiIrecvRequest, events.NonBlockingCollectiveRequest):
                if event.request_id in open_requests[me]:
                    fail(f'rank {me}: request {event.request_id} posted twice')
                open_requests[me][event.request_id] = kind
            if kind in (events.MpiIsendComplete, events.MpiIrecv, events.MpiRequestCancelled,
                        events.NonBlockingCollectiveComplete):
                if event.request_id not in open_requests[me]:
                    fail(f'rank {me}: request {event.request_id} completes unposted')
                posted = open_requests[me].pop(event.request_id)
                if kind not in (COMPLETED_BY[posted], events.MpiRequestCancelled):
                    fail(f'rank {me}: {posted.__name__} {event.request_id} ends as {kind.__name__}')
            if kind is events.RmaWinCreate:
                if event.win._ref in windows[me]:
                    fail(f'rank {me}: window {event.win._ref} is made twice')
                windows[me].add(event.win._ref)
            elif kind.__name__.startswith('Rma') and kind is not events.RmaCollectiveBegin:
                if event.win._ref not in windows[me] | destroyed[me]:
                    fail(f'rank {me}: {kind.__name__} on window {event.win._ref}, which is not there')
            if kind is events.RmaWinDestroy:
                windows[me].remove(event.win._ref)
                destroyed[me].add(event.win._ref)
            if kind is events.RmaCollectiveEnd:
                destroyed[me].clear()
            if kind in (events.RmaPut, events.RmaGet, events.RmaAtomic):
                operations[me].setdefault(event.matching_id, kind)
            if kind is events.RmaOpCompleteRemote:
                if operations[me].pop(event.matching_id, None) is None:
                    fail(f'rank {me}: operation {event.matching_id} ends without having begun')
            if kind in (events.MpiSend, events.MpiIsend):
                comm = event.communicator
                key = (me, world_rank(comm, event.receiver, me), event.msg_tag, comm._ref)
                sent[key].append((event.time, event.msg_length))
            if kind in (events.MpiRecv, events.MpiIrecv):
                comm = event.communicator
                key = (world_rank(comm, event.sender, me), me, event.msg_tag, comm._ref)
                received[key].append((event.time, event.msg_length))
        for location in trace.definitions.locations:
            if events_of[location._ref] != location.number_of_events:
                fail(f'location {location._ref} has {events_of[location._ref]} events, its definition '
                     f'says {location.number_of_events}')

    for me, open_operations in operations.items():
        if open_operations:
            fail(f'rank {me}: operations {sorted(open_operations)} on windows have no end')
    unmatched = matched = 0
    for key in set(sent) | set(received):
        unmatched += abs(len(sent[key]) - len(received[key]))
        for (send_time, sent_bytes), (receive_time, bytes_) in zip(sent[key], received[key]):
            matched += 1
            if not unmatched_allowed and sent_bytes != bytes_:
                fail(f'message {key}: {sent_bytes} bytes sent, {bytes_} received')
            if receive_time < send_time:
                fail(f'message {key}: received before it was sent')
    if unmatched > unmatched_allowed:
        fail(f'{unmatched} messages without partner')
    print(f'{path}: {matched} messages matched')


for archive in arguments:
    check(archive)
