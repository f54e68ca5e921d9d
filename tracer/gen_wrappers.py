#!/usr/bin/env python3
"""Writes the wrappers of one MPI library: the table mpi_calls.txt times the functions that the local
mpi.h declares.

    gen_wrappers.py --table mpi_calls.txt --header PREPROCESSED_MPI_H --out DIR

Out come two files. call_ids.h numbers the wrapped calls. wrappers.cc holds, for each of them,

    int MPI_Send(const void *buf, int count, ...) {
      const auto real = pmpi<decltype(&PMPI_Send)>(kMPI_Send);
      ThreadLog* log = begin_call();
      if (log == nullptr) return real(buf, count, ...);
      return record_send(Call(log, kMPI_Send), real, buf, count, ...);
    }

(a blocking collective also tells PeriodicSync before it returns), and the list of names and roles
that becomes the region definitions. What a call means is not here but in call_*.h, by kind.
"""
import argparse
import fnmatch
import re
import sys

ROLES = {
    'p2p': 'POINT2POINT', 'barrier': 'BARRIER', 'one2all': 'COLL_ONE2ALL', 'all2one': 'COLL_ALL2ONE',
    'all2all': 'COLL_ALL2ALL', 'coll': 'COLL_OTHER', 'rma': 'RMA', 'io': 'FILE_IO',
    'atomic': 'ATOMIC', 'alloc': 'ALLOCATE', 'function': 'FUNCTION',
}

# What the type of an argument must contain for a role of the table; the others are not checked.
ARGUMENT_TYPES = {
    'comm': 'MPI_Comm', 'newcomm': 'MPI_Comm*', 'comm_in_out': 'MPI_Comm*', 'type': 'MPI_Datatype',
    'types': 'MPI_Datatype*', 'request': 'MPI_Request*', 'requests': 'MPI_Request*',
    'status': 'MPI_Status*', 'statuses': 'MPI_Status*', 'op': 'MPI_Op', 'group': 'MPI_Group',
}


def fail(message):
    sys.exit(f'gen_wrappers.py: {message}')


class Entry:
    """One line of the table."""

    def __init__(self, line, where):
        words = line.split()
        if len(words) < 3:
            fail(f'{where}: expected NAME ROLE KIND ARGUMENTS')
        self.name, self.role, self.kind = words[:3]
        self.arguments = words[3:]
        if self.role not in ROLES:
            fail(f'{where}: there is no role "{self.role}"')


def read_table(path):
    exact, patterns = {}, []
    for number, line in enumerate(open(path), 1):
        line = line.split('#')[0].strip()
        if not line:
            continue
        entry = Entry(line, f'{path}:{number}')
        if '*' in entry.name:
            patterns.append(entry)
        elif entry.name in exact:
            fail(f'{path}:{number}: {entry.name} has two lines')
        else:
            exact[entry.name] = entry
    return exact, patterns


class Parameter:
    """One parameter of a declaration: `declare` is its text, `type` the type without spaces, with a
    star for a leading array dimension."""

    def __init__(self, text, index):
        match = re.match(r'^(.*?)(\w+)?\s*((?:\[[^\]]*\]\s*)*)$', text.strip())
        base, name, dimensions = match.group(1).strip(), match.group(2), match.group(3).strip()
        # An unnamed parameter: its last word belongs to the type.
        if not base or base in ('const', 'unsigned', 'struct'):
            base, name = f'{base} {name}'.strip(), None
        self.name = f'arg{index}' if name is None else name
        self.declare = f'{base} {self.name}{dimensions}'
        self.type = base.replace('const', '').replace(' ', '') + ('*' if dimensions else '')


class Function:
    """One MPI function of the header."""

    def __init__(self, result, name, parameters):
        self.result = result
        self.name = name
        parameters = parameters.strip()
        self.variadic = parameters.endswith('...')
        if self.variadic:
            parameters = parameters[:parameters.rindex(',')]
        texts = [] if parameters in ('', 'void') else parameters.split(',')
        self.parameters = [Parameter(text, i) for i, text in enumerate(texts)]

    def declaration(self):
        parameters = [p.declare for p in self.parameters] + (['...'] if self.variadic else [])
        return f'{self.result} {self.name}({", ".join(parameters) or "void"})'

    def arguments(self):
        return ', '.join(p.name for p in self.parameters)


def read_header(path):
    text = open(path).read()
    text = re.sub(r'__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)', ' ', text)
    text = re.sub(r'\s+', ' ', text)
    found = {}
    pattern = re.compile(r'(?:^|[;}] ?)(?:extern )?((?:const )?\w+ ?\*?) ?(MPIX?_\w+) ?'
                         r'\(([^()]*)\) ?(?=;)')
    # Statements overlap in their separators, so look at each one by itself.
    for statement in text.split(';'):
        match = pattern.search('; ' + statement.strip() + ' ;')
        if match and match.group(1).strip() != 'typedef':
            function = Function(match.group(1).strip(), match.group(2), match.group(3))
            found[function.name] = function
    if 'MPI_Send' not in found:
        fail(f'{path}: no declaration of MPI_Send; is this a preprocessed mpi.h?')
    return [found[name] for name in sorted(found)]


def entry_of(function, exact, patterns):
    """The line for a function, or one made up: a region, `request` where it returns one."""
    stem = function.name[:-2] if function.name.endswith('_c') else function.name
    if stem in exact:
        return exact[stem]
    for entry in patterns:
        if fnmatch.fnmatchcase(stem, entry.name):
            return entry
    makes_request = any(p.type == 'MPI_Request*' for p in function.parameters)
    return Entry(f'{stem} function {"request" if makes_request else "region"}', 'default')


def check(function, entry):
    """A line that names arguments must fit the header."""
    if '*' in entry.name or not entry.arguments:
        return
    if len(entry.arguments) != len(function.parameters):
        fail(f'{function.name}: the table has {len(entry.arguments)} arguments, mpi.h has '
             f'{len(function.parameters)}')
    for role, parameter in zip(entry.arguments, function.parameters):
        expected = ARGUMENT_TYPES.get(role)
        if expected and parameter.type != expected:
            fail(f'{function.name}: argument {parameter.name} is {parameter.type}, role {role} '
                 f'expects {expected}')


def is_blocking_collective(entry):
    return (entry.role in ('barrier', 'one2all', 'all2one', 'all2all', 'coll') and
            entry.kind not in ('region', 'request'))


def wrapper(function, entry):
    call, arguments = f'k{function.name}', function.arguments()
    real = f'real({arguments})'
    lines = [f'RUBATO_EXPORT {function.declaration()} {{',
             f'  const auto real = pmpi<decltype(&P{function.name})>({call});']
    if entry.kind in ('init', 'init_thread', 'finalize', 'abort'):
        comma = ', ' if arguments else ''
        lines.append(f'  return record_{entry.kind}({call}, real{comma}{arguments});')
    elif is_blocking_collective(entry):
        communicator = next(p.name for p in function.parameters if p.type == 'MPI_Comm')
        lines += ['  ThreadLog* log = begin_call();',
                  f'  const int returned = log == nullptr ? {real}',
                  f'      : record_{entry.kind}(Call(log, {call}), real, {arguments});',
                  f'  PeriodicSync::after_collective(log, returned, {communicator});',
                  '  return returned;']
    else:
        lines += ['  ThreadLog* log = begin_call();', f'  if (log == nullptr) return {real};']
        if entry.kind == 'region':
            lines += [f'  Call recorded(log, {call});', f'  const auto returned = {real};',
                      '  recorded.leave();', '  return returned;']
        elif entry.kind == 'request':
            request = next((p.name for p in function.parameters if p.type == 'MPI_Request*'), None)
            lines += [f'  Call recorded(log, {call});', f'  const auto returned = {real};']
            if request:
                lines.append(f'  foreign_request(recorded, returned, {request});')
            lines += ['  recorded.leave();', '  return returned;']
        else:
            comma = ', ' if arguments else ''
            lines.append(f'  return record_{entry.kind}(Call(log, {call}), real{comma}{arguments});')
    return '\n'.join(lines + ['}', ''])


# Two wrappers of nothing, made like the others, that tell what recording costs (overhead.cc).
PROBES = '''
int probe_region(void) {
  const auto real = pmpi<int (*)(void)>(kProbeRegion);
  ThreadLog* log = begin_call();
  if (log == nullptr) return real();
  Call recorded(log, kProbeRegion);
  const auto result = real();
  recorded.leave();
  return result;
}

int probe_send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  const auto real =
      pmpi<int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm)>(kProbeSend);
  ThreadLog* log = begin_call();
  if (log == nullptr) return real(buf, count, type, dest, tag, comm);
  return record_send(Call(log, kProbeSend), real, buf, count, type, dest, tag, comm);
}
'''


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--table', required=True)
    parser.add_argument('--header', required=True, help='mpi.h after the preprocessor')
    parser.add_argument('--out', required=True, help='directory for call_ids.h and wrappers.cc')
    options = parser.parse_args()

    exact, patterns = read_table(options.table)
    wrapped = []
    for function in read_header(options.header):
        entry = entry_of(function, exact, patterns)
        if entry.kind == 'none':
            continue
        if function.variadic and entry.kind != 'pcontrol':
            fail(f'{function.name} takes a variable number of arguments; give it a kind')
        check(function, entry)
        wrapped.append((function, entry))

    with open(f'{options.out}/call_ids.h', 'w') as out:
        out.write('#pragma once\n\nnamespace rubato {\n\nenum CallId : unsigned {\n')
        for function, _ in wrapped:
            out.write(f'  k{function.name},\n')
        out.write('  kProbeRegion,\n  kProbeSend,\n  kTracerTime,\n  kCallCount\n};\n\n}  // namespace rubato\n')

    with open(f'{options.out}/wrappers.cc', 'w') as out:
        out.write('#include "tracer/wrappers.h"\n\nnamespace rubato {\n\n')
        out.write('const CallInfo kCalls[kCallCount] = {\n')
        for function, entry in wrapped:
            out.write(f'    {{"{function.name}", OTF2_REGION_ROLE_{ROLES[entry.role]}}},\n')
        out.write('    {"probe", OTF2_REGION_ROLE_FUNCTION},\n'
                  '    {"probe", OTF2_REGION_ROLE_FUNCTION},\n'
                  '    {"tracer time", OTF2_REGION_ROLE_FUNCTION},\n};\n')
        out.write(PROBES)
        out.write('\n}  // namespace rubato\n\nusing namespace rubato;\n\n'
                  '#define RUBATO_EXPORT __attribute__((visibility("default")))\n\nextern "C" {\n\n')
        for function, entry in wrapped:
            out.write(wrapper(function, entry) + '\n')
        out.write('}  // extern "C"\n')


main()
