#!/usr/bin/env python3
"""Damages the records of a killed program in many ways and recovers each: an archive that opens, or one
clear line and exit code 1. Never a signal, never a hang, never memory without bound.

    recover_damaged.py RUBATO RECORDS VARIANTS [SEED]

RECORDS is a directory with journals and records; the damage follows from the seed alone."""
import os
import random
import resource
import shutil
import subprocess
import sys

MEMORY = 1 << 30  # address space; an undamaged recovery takes a tenth of it
SECONDS = 20
# Values that break a count, a length, a rank or an address.
VALUES = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**62, 2**63, 2**64 - 2**18, 2**64 - 1]


def used_bytes(data):
    """Up to the last byte that is not zero: damage beyond it hits nothing."""
    return max(1, len(data.rstrip(b'\0')))


def flip(data, chance):
    for _ in range(chance.choice([1, 1, 4, 64])):
        data[chance.randrange(used_bytes(data))] ^= 1 << chance.randrange(8)


def set_word(data, chance):
    if len(data) < 8:
        return
    at = chance.randrange(max(1, used_bytes(data) - 8))
    if chance.random() < 0.7:
        at &= ~7
    data[at:at + 8] = chance.choice(VALUES).to_bytes(8, 'little')


def set_header(data, chance):
    """A field of the header of a segment, or the first words of a journal."""
    at = 8 * chance.randrange(8)
    if len(data) >= at + 8:
        data[at:at + 8] = chance.choice(VALUES).to_bytes(8, 'little')


def cut(data, chance):
    del data[chance.randrange(used_bytes(data)):]


def lengthen(data, chance):
    data += chance.randbytes(chance.choice([1, 7, 4096]))


def noise(data, chance):
    at = chance.randrange(used_bytes(data))
    more = chance.randbytes(chance.choice([16, 256]))
    data[at:at + len(more)] = more


def damage_contents(directory, chance):
    name = chance.choice(sorted(os.listdir(directory)))
    path = os.path.join(directory, name)
    with open(path, 'rb') as file:
        data = bytearray(file.read())
    way = chance.choice([flip, flip, set_word, set_word, set_word, set_header, cut, lengthen, noise])
    way(data, chance)
    with open(path, 'wb') as file:
        file.write(data)
    return f'{way.__name__} {name}'


def damage_names(directory, chance):
    names = sorted(os.listdir(directory))
    old, new = chance.choice(names), chance.choice(
        names + ['0.x.records', '0..records', '0.99999999999999999999.records', '1.7.records',
                 '-1.journal', 'x.journal', '99.journal', '4294967296.journal'])
    os.replace(os.path.join(directory, old), os.path.join(directory, new))
    return f'{old} as {new}'


def damage_journals(directory, _):
    """Every rank's: there is nothing to recover."""
    for name in os.listdir(directory):
        if name.endswith('.journal'):
            with open(os.path.join(directory, name), 'r+b') as file:
                file.write(bytes(16))
    return 'all journals'


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main():
    rubato, records, variants = sys.argv[1], sys.argv[2], int(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    # Sanitizer builds reserve more address space than that.
    fits = subprocess.run([rubato, '--version'], preexec_fn=limit, capture_output=True).returncode == 0
    failures = 0
    codes = {0: 0, 1: 0}
    for variant in range(variants):
        chance = random.Random(f'{seed} {variant}')
        for old in ('damaged', 'try.otf2dir'):
            shutil.rmtree(old, ignore_errors=True)
        shutil.copytree(records, 'damaged')
        if variant == 0:
            what = [damage_journals('damaged', chance)]
        elif chance.random() < 0.1:
            what = [damage_names('damaged', chance)]
        else:
            what = [damage_contents('damaged', chance) for _ in range(chance.choice([1, 1, 1, 3]))]
        try:
            run = subprocess.run([rubato, 'recover', '--keep', 'damaged', '-o', 'try.otf2dir'],
                                 preexec_fn=limit if fits else None, capture_output=True, timeout=SECONDS)
            code, said, lines = run.returncode, run.stderr.decode(errors='replace'), run.stdout
            trouble = ''
            if code not in (0, 1):
                trouble = f'exit code {code}'
            elif code == 1 and (said.count('\n') != 1 or not said.startswith('rubato: error: ')
                                or 'alloc' in said or 'std::' in said):
                trouble = 'no clear line'
            elif code == 1 and os.path.exists('try.otf2dir'):
                trouble = 'half an archive is left'
            elif code == 0 and (said or b' events of ' not in lines):
                trouble = 'no result'
            elif code == 0:
                check = subprocess.run(['otf2-print', '--silent', 'try.otf2dir/traces.otf2'],
                                       capture_output=True, timeout=SECONDS)
                if check.returncode != 0:
                    trouble = f'the archive does not open: {check.stderr.decode()}'
                # Entries with ranks out of range were left out.
                replay = subprocess.run([rubato, 'info', 'try.otf2dir'], capture_output=True, timeout=SECONDS)
                if b' is not in ' in replay.stderr or b'is not an MPI collective' in replay.stderr:
                    trouble = f'the archive cannot be replayed: {replay.stderr.decode(errors="replace")}'
        except subprocess.TimeoutExpired:
            code, said, trouble = 1, '', 'it hangs'
        codes[code] = codes.get(code, 0) + 1
        if trouble:
            failures += 1
            print(f'variant {variant} ({", ".join(what)}): {trouble}\n  {said.strip()}')
    print(f'{codes[0]} recovered, {codes[1]} refused, {failures} failures')
    # Damage without effect would test nothing, nor would a check that rejects everything.
    return 0 if failures == 0 and codes[0] > 0 and codes[1] > 0 else 1


sys.exit(main())
