#!/usr/bin/env python3
"""How fast several processes of `rubato replay` would be on a cluster, as Rubato itself predicts.

  self_speedup.py RUBATO [--ranks R] [--calls N] [--load NS] [--run NS] [--record NS] [--message NS] [--on SCENARIO]

A replay on P processes is an MPI program. This writes, for P = 2, 4 ... 1024, what its processes do as a text trace
(share/doc/text-traces.md), replays that on SCENARIO (infiniband-hdr:ppn=1) and prints the speedup over one process. The
program it replays is that of rubato-bench: a 3-D halo exchange of R ranks, a power of two, with an MPI_Allreduce a step.

A step of a process: run its ranks up to their waits; a batch to each process that has neighbours of them, 18.5 B a
message; take theirs; run its ranks on up to the collective; tell the others of its members, 18 B: directly up to eight
processes, from nine on in rounds (replay/matching/relay.h). What that takes: --load and --run, CPU ns of an MPI call
that is decoded and that is replayed; --record, of a message between processes at each end; --message, of a batch at each
end (Rubato's platforms price no processor time).
share/doc/scale.md says where the defaults come from.
"""
import argparse
import collections
import json
import os
import subprocess
import tempfile

MESSAGES = 2000000  # limit of a trace; the mean of its steps represents all steps
CALLS = 14  # of a rank in a step
SEND_BYTES, MEMBERS_BYTES = 18.5, 18
TOLD_DIRECTLY = 8  # processes


def neighbours_between(ranks, processes):
    """Messages of a step, by sending and receiving process: ranks are divided in blocks."""
    size = [1, 1, 1]
    for i in range(ranks.bit_length() - 1):
        size[i % 3] *= 2
    strides = (1, size[0], size[0] * size[1])
    block = ranks // processes
    messages = collections.Counter()
    for rank in range(ranks):
        for d in range(3):
            at = rank // strides[d] % size[d]
            for to in ((at + 1) % size[d], (at - 1) % size[d]):
                other = rank + (to - at) * strides[d]
                if other // block != rank // block:
                    messages[rank // block, other // block] += 1
    return messages


def relay_distances(processes):
    """In a ring, of each round of a relay: what is known doubles, or grows by one more, up to processes - 1."""
    others, known, distances = processes - 1, 0, []
    for digit in f'{others:b}':
        distances.append(known + int(digit))
        known = 2 * known + int(digit)
    return distances


def write_trace(file, messages, processes, steps, compute_ns, record_ns, message_ns):
    """Two halves of compute in each step, and what is exchanged behind each of them."""
    print('nodes', *range(processes), file=file)
    print('one_clock', file=file)
    batches = [{} for _ in range(processes)]
    for (a, b), count in sorted(messages.items()):
        batches[a][b] = count
    for process in range(processes):
        halo = sum(batches[process].values()) * record_ns + len(batches[process]) * message_ns
        others = [other for other in range(processes) if other != process]
        rounds = [(others, others)]
        if processes > TOLD_DIRECTLY:
            rounds = [([(process - distance) % processes], [(process + distance) % processes])
                      for distance in relay_distances(processes)]
        clock = 0.0

        def exchange(senders, receivers, sizes, tag):
            for request, other in enumerate(senders):
                print(f'{process}: {clock:.0f}..{clock:.0f} irecv {other} {sizes(other)}B tag {tag} req {request + 1}',
                      file=file)
            for request, other in enumerate(receivers):
                print(f'{process}: {clock:.0f}..{clock:.0f} isend {other} {sizes(other)}B tag {tag} '
                      f'req {len(senders) + request + 1}', file=file)
            print(f'{process}: {clock:.0f}..{clock:.0f} wait', *range(1, len(senders) + len(receivers) + 1), file=file)

        for _ in range(steps):
            clock += compute_ns / 2 + halo
            partners = sorted(batches[process])
            exchange(partners, partners, lambda other: round(SEND_BYTES * batches[process][other]), 1)
            clock += compute_ns / 2 + halo
            for number, (senders, receivers) in enumerate(rounds):
                clock += len(receivers) * message_ns
                exchange(senders, receivers, lambda other: MEMBERS_BYTES, 2 + number)
                clock += len(senders) * message_ns
        print(f'{process}: {clock:.0f} end', file=file)


def predicted_ns(rubato, scenario, trace):
    out = subprocess.run([rubato, 'replay', trace, '--only', '--on', scenario, '--times-only',
                          '--json', '-'], check=True, capture_output=True, text=True).stdout
    return json.loads(out)['scenarios'][0]['elapsed'] * 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('rubato')
    parser.add_argument('--ranks', type=int, default=65536)
    parser.add_argument('--calls', type=float, default=1e9)
    parser.add_argument('--load', type=float, default=65)
    parser.add_argument('--run', type=float, default=60)
    parser.add_argument('--record', type=float, default=60)
    parser.add_argument('--message', type=float, default=500)
    parser.add_argument('--on', default='infiniband-hdr:ppn=1')
    parser.add_argument('--most', type=int, default=1024, help='processes')
    args = parser.parse_args()
    steps = args.calls / (CALLS * args.ranks)
    alone = args.calls * (args.load + args.run) * 1e-9
    print('processes  messages/step  seconds  speedup  efficiency')
    print(f'{1:9}  {0:13}  {alone:7.1f}  {1:7.1f}  {1:10.0%}')
    processes = 2
    with tempfile.TemporaryDirectory() as directory:
        while processes <= min(args.ranks, args.most):
            messages = neighbours_between(args.ranks, processes)
            steps_in_trace = max(2, min(20, MESSAGES // (30 * processes)))
            trace = os.path.join(directory, f'{processes}.txt')
            with open(trace, 'w', encoding='utf-8') as file:
                write_trace(file, messages, processes, steps_in_trace, CALLS * args.ranks / processes * args.run, args.record,
                            args.message)
            step = predicted_ns(args.rubato, args.on, trace) / steps_in_trace
            seconds = (args.calls * args.load / processes + steps * step) * 1e-9
            partners = max(collections.Counter(a for a, _ in messages).values())
            told = processes - 1 if processes <= TOLD_DIRECTLY else len(relay_distances(processes))
            print(f'{processes:9}  {partners + told:13}  {seconds:7.1f}  {alone / seconds:7.1f}  '
                  f'{alone / seconds / processes:10.0%}', flush=True)
            os.remove(trace)
            processes *= 2


if __name__ == '__main__':
    main()
