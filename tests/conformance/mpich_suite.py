#!/usr/bin/env python3
"""Runs the tests of MPICH's suite without and with the tracer, and compares. Called by mpich_suite.sh,
which fetches and builds the suite.

Each line of the suite's lists is run by the suite's own `runtests`, once per mode, so that its rules
for what a passed test looks like hold. What was found goes to one JSON file per test and mode; those
of a mode are run again only when they are gone or, with the tracer, when its library has changed.
"""
import argparse
import concurrent.futures
import fcntl
import getpass
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import zlib

RETRIES = 2
TOOL_TIMEOUT = 300  # seconds; otf2-print takes hours over many thousand communicators
KEPT_OUTPUT = 3000  # characters of a failed test's output
MODES = ('plain', 'traced')
here = os.path.dirname(os.path.abspath(__file__))


class Test:
    """One line of a list: a program, its number of processes and how to run it."""

    def __init__(self, folder, directory, program, processes, words):
        self.folder = folder
        self.directory = directory
        self.program = program
        self.line = ' '.join([program, str(processes)] + words)
        self.memory = max([float(w[4:]) for w in words if w.startswith('mem=')] or [0])
        self.expected_to_fail = any(w.startswith('xfail=') for w in words)
        name = f'{directory}/{program}.{processes}'.replace('/', '_')
        self.key = f'{name}-{zlib.crc32(self.line.encode()):08x}' if words else name

    def __str__(self):
        return f'{self.directory}/{self.line}'


def read_list(options, folder, directory):
    """The tests of a directory and those below that its list names."""
    for list_name in options.lists.split(','):
        path = os.path.join(options.suite, directory, list_name)
        if not os.path.exists(path):
            continue
        for line in open(path):
            words = line.split('#')[0].split()
            if not words or words[0].startswith('!'):
                continue
            below = os.path.join(directory, words[0])
            if os.path.isdir(os.path.join(options.suite, below)):
                yield from read_list(options, folder, below)
                continue
            processes = int(words[1]) if len(words) > 1 else 2
            # The suite's own limits of time are for machines that have a core for each process.
            others = [w for w in words[2:] if '=' in w and not w.startswith('timeLimit=')]
            where, program = os.path.split(below)
            yield Test(folder, where, program, min(processes, options.maxnp), others)


def all_tests(options):
    """Each line once: some differ only in a number of processes above the limit."""
    seen, tests, skipped = set(), [], []
    for folder in options.folders:
        for test in read_list(options, folder, folder):
            if test.key in seen:
                continue
            seen.add(test.key)
            if options.only and not re.search(options.only, str(test)):
                continue
            if test.expected_to_fail or test.memory > options.max_memory:
                skipped.append(test)
            else:
                tests.append(test)
    return tests, skipped


def digest(path):
    return hashlib.sha256(open(path, 'rb').read()).hexdigest()[:16]


class Runner:
    def __init__(self, options):
        self.options = options
        self.tracer = digest(options.tracer)
        # Tests of file operations name their files alike.
        self.one_at_a_time = threading.Lock()

    def result_path(self, test, mode):
        return os.path.join(self.options.results, test.folder, f'{test.key}.{mode}.json')

    def load(self, test, mode):
        try:
            with open(self.result_path(test, mode)) as file:
                result = json.load(file)
        except (OSError, ValueError):
            return None
        return None if mode == 'traced' and result['tracer'] != self.tracer else result

    def store(self, test, mode, result):
        path = self.result_path(test, mode)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + '.part', 'w') as file:
            json.dump(result, file, indent=1)
        os.rename(path + '.part', path)

    def run_once(self, test, mode):
        """One run of a test under runtests: its verdict and what it left."""
        options = self.options
        directory = os.path.join(options.work, 'runs', f'{test.key}.{mode}')
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        test_list, xml, output = (os.path.join(directory, n) for n in ('list', 'out.xml', 'output'))
        with open(test_list, 'w') as file:
            file.write(test.line + '\n')
        archive = os.path.join(directory, 'run.otf2dir')
        environment = dict(os.environ, MPITEST_CLEANUP='0', MPITEST_TIMEOUT=str(options.timeout),
                           SUITE_MPIEXEC=options.mpiexec, SUITE_OUTPUT=output,
                           USER=getpass.getuser())
        if mode == 'traced':
            environment['MPITEST_PROGRAM_WRAPPER'] = (
                f'{options.rubato} trace --memory {options.trace_memory} -o {archive}')
        command = ['perl', os.path.join(options.suite, 'runtests'), '-srcdir=.', f'-tests={test_list}',
                   f'-mpiexec={here}/mpich_suite_mpiexec.sh', f'-xmlfile={xml}']
        where = os.path.join(options.suite, test.directory)
        process = subprocess.Popen(command, cwd=where, env=environment, start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        killed = False
        try:
            text, _ = process.communicate(timeout=2 * options.timeout + 60)
        except subprocess.TimeoutExpired:
            killed = True
            for number in (signal.SIGTERM, signal.SIGKILL):
                os.killpg(process.pid, number)
                try:
                    text, _ = process.communicate(timeout=10)
                    break
                except subprocess.TimeoutExpired:
                    text = b''
        said = text.decode(errors='replace')
        return self.judge(test, mode, said, killed, directory, xml, output, archive)

    def judge(self, test, mode, said, killed, directory, xml, output, archive):
        found = open(xml, errors='replace').read() if os.path.exists(xml) else ''
        printed = open(output, errors='replace').read() if os.path.exists(output) else ''
        status = re.search(r'<STATUS>(\w+)</STATUS>', found)
        seconds = re.search(r'<TIME>([\d.]+)</TIME>', found)
        result = {'test': str(test), 'seconds': float(seconds.group(1)) if seconds else 0.0}
        if 'Failed to build' in said:
            result['verdict'] = 'not built'
        elif status is None:
            result['verdict'] = 'timeout' if killed else 'skipped'
        else:
            result['verdict'] = status.group(1)
            if result['verdict'] != 'pass' and result['seconds'] > self.options.timeout - 2:
                result['verdict'] = 'timeout'
        if result['verdict'] != 'pass':
            result['output'] = (printed or said)[-KEPT_OUTPUT:]
        if mode == 'traced':
            result['tracer'] = self.tracer
            tracer_lines = f'{output}.tracer'
            if os.path.exists(tracer_lines):
                result['said'] = open(tracer_lines, errors='replace').read().splitlines()[:5]
            self.judge_archive(archive, result)
        keep = self.options.keep or any(k in result for k in ('refused', 'unequal', 'not replayed',
                                                         'odd records'))
        if not keep:
            shutil.rmtree(directory, ignore_errors=True)
        return result

    def judge_archive(self, archive, result):
        """What OTF2's own reader, and the replay of the run as it was, say to the archive."""
        anchor = os.path.join(archive, 'traces.otf2')
        if not os.path.exists(anchor):
            result['archive'] = 'none'
            incomplete = os.path.join(archive, 'INCOMPLETE')
            if os.path.exists(incomplete):
                result['archive'] = 'incomplete: ' + open(incomplete).read().strip()
            return
        result['archive'] = 'written'
        result['megabytes'] = round(sum(
            os.path.getsize(p) for p in glob.glob(archive + '/**', recursive=True)) / 1e6, 1)
        code, said = self.tool(['otf2-print', '-Werror', '--silent', anchor])
        if code is None:
            result['unchecked'] = said
        elif code != 0:
            result['refused'] = said[-1000:]
        definitions = '' if code is None else self.tool(['otf2-print', '-G', anchor])[1]
        result['calls'] = sorted(set(re.findall(r'^REGION .*?Name: "(\w+)"', definitions, re.M)))
        # python3-otf2 cannot read archives with intercommunicators.
        if self.options.records and 'INTER_COMM' not in definitions:
            code, said = self.tool(['/usr/bin/python3', f'{here}/../e2e/check_archive.py', anchor])
            if code:
                result['odd records'] = said[-1000:]
        if self.options.identity:
            code, said = self.tool([self.options.rubato, 'replay', archive, '--on', 'measured',
                                    '--verify'])
            if code is None:
                result['unchecked'] = said
            elif code != 0:
                # Or the replay has a reason to refuse: calls of several threads, for instance.
                result['unequal' if 'NOT VERIFIED' in said else 'not replayed'] = said[-1000:]

    def tool(self, command):
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=TOOL_TIMEOUT)
        except subprocess.TimeoutExpired:
            return None, f'{os.path.basename(command[0])}: no end after {TOOL_TIMEOUT} s'
        return done.returncode, done.stdout.decode(errors='replace')

    def run(self, test):
        """Both modes; those whose verdicts differ, or that ran out of time, again."""
        if '/io' in test.directory or test.directory.startswith('io'):
            with self.one_at_a_time:
                return self.run_modes(test)
        return self.run_modes(test)

    def run_modes(self, test):
        results = {}
        for mode in MODES:
            if mode not in self.options.modes:
                continue
            results[mode] = self.load(test, mode)
            if results[mode] is None:
                # A test that times out has no result, and would take as long again.
                if mode == 'traced' and 'plain' in results:
                    if results['plain']['verdict'] in ('not built', 'timeout'):
                        del results[mode]
                        continue
                results[mode] = self.run_once(test, mode)
                self.store(test, mode, results[mode])
        if len(results) == 2:
            self.settle(test, results)
        return results

    def settle(self, test, results):
        """Runs a test with two verdicts again, in turns, until they agree or the tries are used up."""
        for _ in range(RETRIES):
            for mode in ('traced', 'plain'):
                verdicts = {m: results[m]['verdict'] for m in MODES}
                tries = results[mode].get('tries', [])
                if verdicts['plain'] == verdicts['traced'] or len(tries) >= RETRIES:
                    continue
                again = self.run_once(test, mode)
                again['tries'] = tries + [verdicts[mode]]
                results[mode] = again
                self.store(test, mode, again)


def lock_folders(options):
    """Two runs of a folder at once would share directories. The locks last as long as this process."""
    locks = []
    for folder in options.folders:
        os.makedirs(os.path.join(options.results, folder), exist_ok=True)
        locks.append(open(os.path.join(options.results, folder, '.lock'), 'w'))
        try:
            fcntl.flock(locks[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            sys.exit(f'mpich_suite.py: {folder} is being run by another process')
    return locks


def run(options):
    options.locks = lock_folders(options)
    tests, skipped = all_tests(options)
    runner = Runner(options)
    done = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for test, results in zip(tests, pool.map(runner.run, tests)):
            done += 1
            verdicts = ', '.join(f'{m} {results[m]["verdict"]}' for m in MODES if m in results)
            notes = ''.join(f' ({k})' for k in ('refused', 'unequal', 'not replayed',
                                                       'odd records', 'unchecked')
                            if k in results.get('traced', {}))
            print(f'{done}/{len(tests)} {test}: {verdicts}{notes}', flush=True)
    return report(options, tests, skipped, runner)


def wrapped_calls(library):
    listing = subprocess.run(['nm', '-D', '--defined-only', library], capture_output=True, text=True)
    return set(re.findall(r'\b[TW] (MPIX?_\w+)$', listing.stdout, re.M))


def last_line(text):
    return (text.strip().splitlines() or [''])[-1]


def why_no_archive(result):
    if result['verdict'] != 'pass':
        return f'the test ends with: {result["verdict"]}'
    return '; '.join(result.get('said', [])) or 'no word'


def report(options, tests, skipped, runner):
    """Prints the table; returns 1 if something has to be looked at."""
    columns = ['tests', 'skipped', 'pass without', 'pass with', 'differ', 'archives', 'refused',
               'unequal', 'not replayed', 'odd records',
               'no archive']
    rows, lists, executed = [], {}, set()

    def note(title, line):
        lists.setdefault(title, []).append(line)

    for folder in options.folders:
        row = dict.fromkeys(columns, 0)
        row['skipped'] = sum(t.folder == folder for t in skipped)
        for test in tests:
            if test.folder != folder:
                continue
            row['tests'] += 1
            plain, traced = (runner.load(test, m) for m in MODES)
            row['pass without'] += plain is not None and plain['verdict'] == 'pass'
            if plain is not None and plain['verdict'] != 'pass':
                note('Not passed without the tracer', f'{test}: {plain["verdict"]}')
            if traced is None:
                continue
            row['pass with'] += traced['verdict'] == 'pass'
            if plain is not None and plain['verdict'] != traced['verdict']:
                row['differ'] += 1
                note('Different verdicts', f'{test}: {plain["verdict"]} without, '
                     f'{traced["verdict"]} with')
            elif plain is not None and (plain.get('tries') or traced.get('tries')):
                note('Equal only when run again', f'{test}: {plain.get("tries", [])} '
                     f'{plain["verdict"]} without, {traced.get("tries", [])} {traced["verdict"]} with')
            executed |= set(traced.get('calls', []))
            if traced['archive'] == 'written':
                row['archives'] += 1
                if 'unchecked' in traced:
                    note('Not checked to the end', f'{test}: {traced["unchecked"]}')
                for key, title in (('refused', 'Refused by otf2-print'),
                                   ('unequal', 'Replay as measured is not the recording'),
                                   ('not replayed', 'Not replayed'),
                                   ('odd records', 'Records that do not fit together')):
                    if key in traced:
                        row[key] += 1
                        note(title, f'{test}: {last_line(traced[key])}')
            else:
                row['no archive'] += 1
                reason = why_no_archive(traced) if traced['archive'] == 'none' else traced['archive']
                note('No archive', f'{test}: {reason}')
        rows.append((folder, row))
    rows.append(('all', {c: sum(r[c] for _, r in rows) for c in columns}))

    width = [max(len(c), 6) for c in columns]
    print('\n' + 'folder'.ljust(10) + ''.join(f'  {c:>{w}}' for c, w in zip(columns, width)))
    for folder, row in rows:
        print(folder.ljust(10) + ''.join(f'  {row[c]:>{w}}' for c, w in zip(columns, width)))
    for title, lines in lists.items():
        print(f'\n{title} ({len(lines)}):')
        for line in lines:
            print(f'  {line}')
    never = sorted(wrapped_calls(options.tracer) - executed)
    print(f'\nWrapped calls that no archive contains ({len(never)}):')
    print('  ' + ' '.join(never))
    total = rows[-1][1]
    return 1 if total['differ'] or total['refused'] or total['unequal'] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--suite', required=True, help='test/mpi, configured and built')
    parser.add_argument('--work', required=True)
    parser.add_argument('--results', required=True)
    parser.add_argument('--rubato', required=True)
    parser.add_argument('--tracer', required=True, help='the tracer library')
    parser.add_argument('--mpiexec', required=True)
    parser.add_argument('--folders', type=str.split, required=True)
    parser.add_argument('--lists', default='testlist')
    parser.add_argument('--only')
    parser.add_argument('--modes', type=str.split, default=list(MODES))
    parser.add_argument('--maxnp', type=int, default=4)
    parser.add_argument('--max-memory', type=float, default=4.0, help='GB a test may say it needs')
    parser.add_argument('--trace-memory', default='64MiB')
    parser.add_argument('--timeout', type=int, default=120)
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--identity', action='store_true')
    parser.add_argument('--records', action='store_true')
    parser.add_argument('--keep', action='store_true')
    parser.add_argument('--report', action='store_true', help='run nothing')
    options = parser.parse_args()
    if options.report:
        tests, skipped = all_tests(options)
        sys.exit(report(options, tests, skipped, Runner(options)))
    sys.exit(run(options))


main()
