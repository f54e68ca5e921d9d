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

# Kinds of calls that start or end recording: their functions get the call's id and the caller's address.
STARTS_AND_ENDS = {'init', 'init_thread', 'finalize', 'abort', 'session_init', 'session_finalize'}

# Kinds of calls that free or complete an object, and the function of call_passed.h that forgets the object if the call
# is not recorded (inside MPI's callbacks).
PASSED = {
    'comm_free': 'pass_comm_free', 'win_free': 'pass_win_free', 'type_free': 'pass_type_free',
    'request_free': 'pass_one', 'wait': 'pass_one',
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
        before, _, after = line.partition(':')
        columns = before.split()
        if len(columns) < 3:
            fail(f'{where}: expected NAME ROLE KIND ARGUMENTS : WORDS')
        self.where = where
        # One line for the names of MPI and of an extension.
        self.name, self.role, self.kind = columns[0].replace('MPIX_', 'MPI_', 1), columns[1], columns[2]
        self.arguments = columns[3:]
        self.words = after.split()
        # After these the ranks may compare their clocks (periodic_sync.h).
        self.blocking_collective = self.kind.startswith('collective<')
        if not re.fullmatch(r'MPI_[A-Za-z0-9_*]+', self.name):
            fail(f'{where}: "{columns[0]}" is no name of a call')
        if self.role not in ROLES:
            fail(f'{where}: there is no role "{self.role}"')


class Table:
    """The table: lines by name, patterns in their order, and for each KIND that says something its words
    and where they stand."""

    def __init__(self, path):
        self.exact, self.patterns, self.kinds = {}, [], {}
        try:
            lines = open(path, encoding='utf-8').read().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            fail(f'{path} cannot be read: {error}')
        for number, line in enumerate(lines, 1):
            line = line.split('#')[0].strip()
            if line:
                self._add(line, f'{path}:{number}')
        if not self.exact:
            fail(f'{path} has no line for a call')

    def _add(self, line, where):
        if line.split()[0] == 'kind':
            before, _, after = line.partition(':')
            kinds, words = before.split()[1:], after.split()
            if not kinds or not words:
                fail(f'{where}: expected kind KIND ... : WORDS')
            for kind in kinds:
                if kind in self.kinds:
                    fail(f'{where}: kind {kind} has two lines')
                self.kinds[kind] = (words, where)
            return
        entry = Entry(line, where)
        if entry.name in self.exact or any(entry.name == p.name for p in self.patterns):
            fail(f'{where}: {entry.name} has two lines')
        if '*' in entry.name:
            hides = next((p for p in self.patterns if fnmatch.fnmatchcase(entry.name, p.name)), None)
            if hides:
                fail(f'{where}: {entry.name} comes after {hides.name}, which fits the same names')
            self.patterns.append(entry)
        else:
            self.exact[entry.name] = entry

    def find(self, name):
        """The line for a call, or None."""
        stem = re.sub('_c$', '', name).replace('MPIX_', 'MPI_', 1)
        fitting = (p for p in self.patterns if fnmatch.fnmatchcase(stem, p.name))
        return self.exact.get(stem) or next(fitting, None)


# Parameters that are functions of the program, by a word of their type: their CallbackKind (own_work.h).
CALLBACKS = {
    'User_function': 'Operation', 'copy_attr_function': 'AttributeCopy', 'Copy_function': 'AttributeCopy',
    'delete_attr_function': 'AttributeDelete', 'Delete_function': 'AttributeDelete',
    'errhandler_f': 'ErrorHandler', 'Handler_function': 'ErrorHandler', 'Grequest_[a-z]*_function': 'Request',
    'Datarep_': 'DataRepresentation',
}


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

    def callbacks(self):
        """The parameters that are functions of the program, each with its CallbackKind."""
        return [(p.name, kind) for p in self.parameters for word, kind in CALLBACKS.items()
                if re.fullmatch(rf'\w*{word}\w*\*', p.type)]

    def made_request(self):
        """The parameter in which it returns a request, or None."""
        return next((p for p in self.parameters
                     if p.type == 'MPI_Request*' and not p.declare.startswith('const ')), None)


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
    table = Table(table)
    wrapped = []
    for function in read_header(header):
        entry = table.find(function.name) or Entry(f'{function.name} function region', 'default')
        if entry.kind == 'none':
            continue
        if function.variadic and entry.kind != 'pcontrol':
            fail(f'{function.name} takes a variable number of arguments; give it a kind')
        check(function, entry)
        wrapped.append((function, entry))
    return wrapped
