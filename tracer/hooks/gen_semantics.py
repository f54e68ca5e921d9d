#!/usr/bin/env python3
"""Writes what the replay knows of MPI calls by their names: the words of the table mpi_calls.txt, whatever MPI is
installed.

    gen_semantics.py --table mpi_calls.txt --out mpi_calls.inc

The output is the body of the array kKnownCalls of replay/trace/mpi_calls.cc, a row for each line of the table,

    {"MPI_Issend", {.without_records = CallClass::kMessage, .nonblocking = true, .synchronous = true}},

names first, then patterns in the order of the table; the first matching row applies. Errors: a line without a class, an
unknown word, words that contradict each other or repeat those of KIND.
"""
import argparse
import re

from mpi_header import Table, fail

# Each call has exactly one of these words; the values are of CallClass.
CLASSES = {'local': 'kLocal', 'communicates': 'kCommunicates', 'message': 'kMessage'}

# Further words: the field of CallSemantics (in its order), and the classes that allow the word.
WORDS = {
    'nonblocking': ('.nonblocking = true', 'message local'),
    'synchronous': ('.synchronous = true', 'message local'),
    'buffered': ('.buffered = true', 'message local'),
    'other-requests': ('.other_requests = true', 'communicates local'),
    'among-neighbours': ('.among_neighbours = true', 'communicates'),
    'frees-request': ('.frees_request = true', 'local'),
    'waits': ('.waits = true', 'communicates'),
    'tests': ('.tests = true', 'communicates'),
    'takes-some': ('.takes_some = true', 'communicates'),
    'probes': ('.probes = true', 'communicates'),
    'makes-ready': ('.makes_ready = true', 'communicates'),
    'one-sided': ('.one_sided = true', 'communicates'),
    'epoch=post': ('.epoch = EpochStep::kPost', 'communicates'),
    'epoch=start': ('.epoch = EpochStep::kStart', 'communicates'),
    'epoch=complete': ('.epoch = EpochStep::kComplete', 'communicates'),
    'init': ('.init = true', 'local'),
    'finalize': ('.finalize = true', 'local'),
}

# At most one of each of these.
ALTERNATIVES = [
    CLASSES, ('synchronous', 'buffered'), ('waits', 'tests', 'probes', 'makes-ready'),
    ('epoch=post', 'epoch=start', 'epoch=complete'), ('init', 'finalize'),
]


def check_words(words, where):
    """Checks the words of a line, for a call or for a kind, without their context."""
    for word in words:
        if word not in CLASSES and word not in WORDS:
            fail(f'{where}: there is no word "{word}"')
        if words.count(word) > 1:
            fail(f'{where}: duplicate word "{word}"')


def semantics(entry, kinds):
    """All that the table says of a call: the words of its KIND and its own."""
    kind = re.sub('<.*', '', entry.kind)
    of_kind, _ = kinds.get(kind, ([], None))
    check_words(entry.words, entry.where)
    for word in entry.words:
        if word in of_kind:
            fail(f'{entry.where}: kind {kind} says "{word}" already')
    words = of_kind + entry.words
    for alternatives in ALTERNATIVES:
        both = [word for word in words if word in alternatives]
        if len(both) > 1:
            fail(f'{entry.where}: {entry.name} cannot be both "{both[0]}" and "{both[1]}"')
    call_class = next((word for word in words if word in CLASSES), None)
    if call_class is None:
        fail(f'{entry.where}: {entry.name} is one of {", ".join(CLASSES)}; neither its kind nor its words say which')
    for word in words:
        if word in WORDS and call_class not in WORDS[word][1].split():
            fail(f'{entry.where}: {entry.name} cannot be both "{call_class}" and "{word}"')
    if 'takes-some' in words and not {'waits', 'tests'} & set(words):
        fail(f'{entry.where}: {entry.name} "takes-some", so it "waits" or "tests"')
    return [f'.without_records = CallClass::{CLASSES[call_class]}'] + [
        field for word, (field, _) in WORDS.items() if word in words]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--table', required=True)
    parser.add_argument('--out', required=True, help='the file to write')
    options = parser.parse_args()

    table = Table(options.table)
    entries = list(table.exact.values()) + table.patterns
    used = {re.sub('<.*', '', entry.kind) for entry in entries}
    for kind, (words, where) in table.kinds.items():
        check_words(words, where)
        if kind not in used:
            fail(f'{where}: no call is of kind {kind}')
    rows = [f'{{"{entry.name}", {{{", ".join(semantics(entry, table.kinds))}}}}},\n' for entry in entries]
    with open(options.out, 'w') as out:
        out.write(f'// Made by gen_semantics.py: change mpi_calls.txt instead.\n{"".join(rows)}')


main()
