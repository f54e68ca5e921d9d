#!/usr/bin/env python3
"""Inputs for libFuzzer to begin with, one a file, beyond the few of targets.cc.

  corpus.py text CORPUS                  text traces in the sources of tests
  corpus.py scenario CORPUS              scenarios in tests and documents
  corpus.py archive CORPUS ARCHIVE...    directories of archives, as the target 'archive' reads them
  corpus.py killed CORPUS RECORDS...     directories with records of killed programs (rubato trace --records)

CORPUS is a directory, which is made."""
import hashlib
import pathlib
import re
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LONGEST = 60000  # bytes
SEGMENT = 256 << 10  # kSegmentBytes of tracer/layout/segment.h


def texts():
    for file in (ROOT / 'tests/unit').glob('*.*'):
        for text in re.findall(r'R"\((.*?)\)"', file.read_text(), re.S):
            if re.search(r'^\s*\d+(\.\d+)?: \d', text, re.M):
                yield text.encode()


def scenarios():
    for pattern in 'tests/**/*.cc', 'tests/**/*.sh', 'share/doc/*.md', 'share/help/*':
        for file in ROOT.glob(pattern):
            words = file.read_text()
            found = re.findall(r'parse_scenario\("([^"\n]+)"', words)
            found += [word.strip('\'"`') for word in re.findall(r'--on ([^\s$]+)', words)]
            for scenario in found:
                # The fuzz target has no path to the named networks.
                yield re.sub(r'^((infiniband|ethernet|slingshot|shared)-\w+)', r'share/platforms/\1.toml', scenario).encode()


def pack(name, content):
    return str(name).encode() + b'\0' + struct.pack('<Q', len(content)) + content


def archives(directories):
    for directory in map(pathlib.Path, directories):
        files = sorted(file for file in directory.rglob('*') if file.is_file())
        yield b''.join(pack(file.relative_to(directory), file.read_bytes()) for file in files)


def killed(directories):
    """As killed_run_target.h says: of records a part for each segment, without the zeros at its end."""
    for directory in map(pathlib.Path, directories):
        packed = b'r'
        for file in sorted(file for file in directory.iterdir() if file.is_file()):
            content = file.read_bytes()
            step = SEGMENT if file.suffix == '.records' else max(1, len(content))
            parts = [content[at:at + step] for at in range(0, len(content), step)]
            if file.suffix == '.records':
                parts = [part.rstrip(b'\0') for part in parts]
            packed += b''.join(pack(file.name, part) for part in parts)
        yield packed


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ('text', 'scenario', 'archive', 'killed'):
        sys.exit(__doc__)
    kind, corpus, *directories = arguments
    corpus = pathlib.Path(corpus)
    corpus.mkdir(parents=True, exist_ok=True)
    found = {'text': texts, 'scenario': scenarios, 'archive': lambda: archives(directories),
             'killed': lambda: killed(directories)}[kind]()
    for content in found:
        if len(content) <= LONGEST:
            (corpus / hashlib.sha1(content).hexdigest()).write_bytes(content)


main(sys.argv[1:])
