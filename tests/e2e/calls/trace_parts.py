#!/usr/bin/python3
"""trace_parts.py: from otf2-print on standard input, what each call sent to each peer, to recorded.RANK in the
form of trace_parts.c. (python3-otf2 opens no archives with intercommunicators.)"""
import collections
import re
import sys

records = []  # [text of the record, text of its attributes]
for line in sys.stdin:
    if re.match(r'[A-Z]', line):
        records.append([line, ''])
    elif records:
        records[-1][1] += line

region = {}
parts = collections.defaultdict(list)
calls = collections.defaultdict(list)
for record, attributes in records:
    found = re.match(r'(\w+) +(\d+) +\d+ ', record)
    if not found:
        continue
    kind, rank = found[1], int(found[2])
    if kind == 'ENTER':
        region[rank] = re.search(r'Region: "(\w+)"', record)[1]
    elif kind == 'PARAMETER_UINT64' and '"RUBATO_PART_SENT"' in record:
        value = re.search(r'Value: (\d+)', record)[1]
        run = re.search(r'"RUBATO_PART_PEERS"[^;]*; UINT32; (\d+)\)', record + attributes)
        parts[rank] += [value] * (int(run[1]) if run else 1)
        if run and int(run[1]) < 2:
            sys.exit(f'rank {rank}: a run of {run[1]}')
    elif kind == 'LEAVE' and parts[rank]:
        calls[rank].append(' '.join([region[rank], *parts.pop(rank)]))
for rank, lines in calls.items():
    with open(f'recorded.{rank}', 'w') as out:
        out.write('\n'.join(lines) + '\n')
