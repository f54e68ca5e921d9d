#!/usr/bin/env python3
"""What tracer/hooks/mpi_calls.txt promises: every function of the installed mpi.h has a line or a pattern there, what
returns a request says so, and gen_semantics.py refuses lines that say nothing or contradict themselves.

    mpi_calls.py BUILD_DIR
"""
import pathlib
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / 'tracer' / 'hooks'))
sys.dont_write_bytecode = True
from mpi_header import Table, read_header  # noqa: E402

# A table of two lines for calls, which the others are added to as lines 6 and on.
SMALL = '''# Comments and empty lines count.
kind isend : message nonblocking

MPI_Issend p2p isend buf count type dest tag comm request : synchronous
MPIX_Win_*  rma region : local
'''
ROWS = '''{"MPI_Issend", {.without_records = CallClass::kMessage, .nonblocking = true, .synchronous = true}},
{"MPI_Win_*", {.without_records = CallClass::kLocal}},
'''
REFUSED = [
    ('MPI_Foo function', '6: expected NAME ROLE KIND ARGUMENTS : WORDS'),
    ('PMPI_Foo function region : local', '6: "PMPI_Foo" is no name of a call'),
    ('MPI_Foo fnction region : local', '6: there is no role "fnction"'),
    ('MPI_Foo function region',
     '6: MPI_Foo is one of local, communicates, message; neither its kind nor its words say which'),
    ('MPI_Foo function region : waits',
     '6: MPI_Foo is one of local, communicates, message; neither its kind nor its words say which'),
    ('MPI_Foo function foo comm',
     '6: MPI_Foo is one of local, communicates, message; neither its kind nor its words say which'),
    ('MPI_Foo function region : local nonbloking', '6: there is no word "nonbloking"'),
    ('MPI_Foo function region : local local', '6: duplicate word "local"'),
    ('MPI_Foo function region : local communicates', '6: MPI_Foo cannot be both "local" and "communicates"'),
    ('MPI_Foo p2p isend : local', '6: MPI_Foo cannot be both "message" and "local"'),
    ('MPI_Foo p2p isend : message', '6: kind isend says "message" already'),
    ('MPI_Foo p2p isend : synchronous buffered', '6: MPI_Foo cannot be both "synchronous" and "buffered"'),
    ('MPI_Foo function region : communicates waits tests', '6: MPI_Foo cannot be both "waits" and "tests"'),
    ('MPI_Foo function region : local waits', '6: MPI_Foo cannot be both "local" and "waits"'),
    ('MPI_Foo function region : communicates takes-some',
     '6: MPI_Foo "takes-some", so it "waits" or "tests"'),
    ('MPI_Foo rma region : communicates epoch=post epoch=start',
     '6: MPI_Foo cannot be both "epoch=post" and "epoch=start"'),
    ('MPIX_Issend p2p isend', '6: MPI_Issend has two lines'),
    ('MPI_Win_f* rma region : local', '6: MPI_Win_f* comes after MPI_Win_*, which fits the same names'),
    ('kind foo', '6: expected kind KIND ... : WORDS'),
    ('kind isend : message', '6: kind isend has two lines'),
    ('kind foo : local', '6: no call is of kind foo'),
    ('kind foo : lokal\nMPI_Foo function foo : local', '6: there is no word "lokal"'),
]
failures = 0


def check(is_right, message):
    global failures
    if not is_right:
        print(message)
        failures += 1


def check_generator(table):
    generator = root / 'tracer' / 'hooks' / 'gen_semantics.py'
    written = table.with_name('mpi_calls.inc')

    def run(text):
        table.write_text(text)
        return subprocess.run([sys.executable, '-B', generator, '--table', table, '--out', written],
                              capture_output=True, text=True)

    result = run(SMALL)
    check(result.returncode == 0, result.stderr)
    check(''.join(written.read_text().splitlines(True)[1:]) == ROWS, f'not as expected:\n{written.read_text()}')
    for lines, message in REFUSED:
        result = run(f'{SMALL}{lines}\n')
        expected = f'gen_semantics.py: {table}:{message}\n'
        check(result.returncode == 1 and result.stderr == expected, f'expected {expected}got {result.stderr}for {lines}')


def check_header(header):
    table = Table(root / 'tracer' / 'hooks' / 'mpi_calls.txt')
    for function in read_header(header):
        entry = table.find(function.name)
        check(entry is not None, f'{header}: {function.name} has no line')
        if entry and entry.kind == 'region' and function.made_request():
            check('other-requests' in entry.words, f'{entry.where}: {function.name} returns a request, "other-requests"')


with tempfile.TemporaryDirectory() as folder:
    check_generator(pathlib.Path(folder) / 'calls.txt')
headers = sorted(pathlib.Path(sys.argv[1]).glob('generated/tracer-*/mpi.i'))
for header_path in headers:
    check_header(header_path)
check(headers, 'no generated/tracer-*/mpi.i: the build has a tracer for each MPI')
sys.exit(failures > 0)
