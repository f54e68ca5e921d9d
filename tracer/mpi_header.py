"""What the generators read: the table mpi_calls.txt and the functions that the local mpi.h declares."""
import fnmatch
import os
import re
import sys

ROLES = {
    'p2p': 'POINT2POINT', 'barrier': 'BARRIER', 'one2all': 'COLL_ONE2ALL', 'all2one': 'COLL_ALL2ONE',
    'all2all': 'COLL_ALL2ALL', 'coll': 'COLL_OTHER', 'rma': 'RMA', 'io': 'FILE_IO',
    'atomic': 'ATOMIC', 'alloc': 'ALLOCATE', 'function': 'FUNCTION',
}

# Kinds of calls that are not within a recording: their functions get the id and the caller's address.
STARTS_AND_ENDS = {'init', 'init_thread', 'finalize', 'abort', 'session_init', 'session_finalize'}

# Kinds of calls that free or complete something, which is forgotten also where they pass unrecorded, as calls inside of
# MPI's callbacks do, and the functions of call_passed.h for that.
PASSED = {
    'comm_free': 'pass_comm_free', 'win_free': 'pass_win_free', 'request_free': 'pass_one', 'wait': 'pass_one',
    'test': 'pass_one', 'waitall': 'pass_array', 'testall': 'pass_array', 'waitany': 'pass_array',
    'testany': 'pass_array', 'waitsome': 'pass_array',
}

# What the type of an argument must contain for a role of the table; the others are not checked.
ARGUMENT_TYPES = {
    'comm': 'MPI_Comm', 'newcomm': 'MPI_Comm*', 'comm_in_out': 'MPI_Comm*', 'type': 'MPI_Datatype',
    'types': 'MPI_Datatype*', 'request': 'MPI_Request*', 'requests': 'MPI_Request*',
    'status': 'MPI_Status*', 'statuses': 'MPI_Status*', 'op': 'MPI_Op', 'group': 'MPI_Group',
    'info': 'MPI_Info', 'message': 'MPI_Message*', 'request_in': 'MPI_Request', 'win': 'MPI_Win',
    'newwin': 'MPI_Win*', 'win_in_out': 'MPI_Win*',
}


def fail(message):
    sys.exit(f'{os.path.basename(sys.argv[0])}: {message}')


class Entry:
    """One line of the table."""

    def __init__(self, line, where):
        words = line.split()
        if len(words) < 3:
            fail(f'{where}: expected NAME ROLE KIND ARGUMENTS')
        self.name, self.role, self.kind = words[:3]
        self.arguments = words[3:]
        # After these the ranks may compare their clocks (periodic_sync.h).
        self.blocking_collective = self.kind.startswith('collective<')
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
    for name in (stem, stem.replace('MPIX_', 'MPI_', 1)):
        if name in exact:
            return exact[name]
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


def wrapped_functions(table, header):
    """The functions that get a wrapper, each with its line of the table, in the order of their ids."""
    exact, patterns = read_table(table)
    wrapped = []
    for function in read_header(header):
        entry = entry_of(function, exact, patterns)
        if entry.kind == 'none':
            continue
        if function.variadic and entry.kind != 'pcontrol':
            fail(f'{function.name} takes a variable number of arguments; give it a kind')
        check(function, entry)
        wrapped.append((function, entry))
    return wrapped
