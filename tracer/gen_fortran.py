#!/usr/bin/env python3
"""Writes the wrappers of the Fortran bindings of one MPI library, from the same table and header as
gen_wrappers.py. What Fortran passes is what C passes, by address, with an error code behind it and then
a length for each string; so the declarations of C tell the arguments, with the exceptions below.

    gen_fortran.py --table mpi_calls.txt --header PREPROCESSED_MPI_H --out DIR

Out comes fortran_wrappers.cc, with for each call

    void fortran_MPI_Wait(Binding binding, const void* call_site, void* request, void* status,
                          MPI_Fint* error) {
      const auto real = real_function<void (*)(void*, void*, MPI_Fint*)>(binding, kMPI_Wait);
      ThreadLog* log = fortran::begin_call(call_site);
      if (log == nullptr) return real(request, status, error);
      Error c_error(error);
      HandleInOut<MPI_Request> c_request(request);
      Status c_status(status);
      record_wait(Call(log, kMPI_Wait), [&](auto&&...) {
        real(request, c_status.forward(), c_error.forward());
        c_request.update(c_error.code());
        c_status.update(c_error.code());
        return c_error.code();
      }, c_request.c(), c_status.c());
    }

and the symbols that call it. How an argument is translated (fortran.h) follows from its type in C and its
role in the table. Calls with an argument that has no translation get a region and no records; the file
names them in its first lines, as --report does.
"""
import argparse
import re

from mpi_header import PASSED, STARTS_AND_ENDS, fail, wrapped_functions

HANDLES = {'MPI_Comm', 'MPI_Datatype', 'MPI_Group', 'MPI_Info', 'MPI_Message', 'MPI_Op', 'MPI_Request',
           'MPI_Win'}
NUMBERS = {'int', 'MPI_Aint', 'MPI_Count', 'MPI_Offset'}
STRINGS = {'char*', 'char**', 'char***'}

# In C these begin with argc and argv, which Fortran does not have.
WITHOUT_COMMAND_LINE = {'MPI_Init', 'MPI_Init_thread', 'MPI_Info_create_env'}
# In Fortran these have no error code.
WITHOUT_ERROR = {'MPI_Pcontrol'}
# Open MPI has these under a second name, for a TYPE(C_PTR) result in `use mpi`.
POINTER_FORMS = {'MPI_Alloc_mem', 'MPI_Win_allocate', 'MPI_Win_allocate_shared', 'MPI_Win_shared_query'}
# Deprecated or removed when mpi_f08 came, and not in it; and extensions of MPICH for C alone.
NOT_IN_F08 = re.compile(
    r'MPI_(Address|Attr_(delete|get|put)|Errhandler_(create|get|set)|Keyval_(create|free)|'
    r'Type_(extent|hindexed|hvector|lb|struct|ub))$|MPIX_(Delete_error_|Grequest_)')
# MPICH's bindings of these go past C's function, with all symbols.
PAST_C = re.compile(r'MPI_(Attr|Comm|Type|Win)_(get|put|set)(_attr)?$')
# Parameters "void *" of C that are no message buffers.
NO_BUFFERS = {'attribute_val', 'baseptr', 'extra_state', 'buffer_addr'}


class Argument:
    """An argument of Fortran. `declare` translates it for a record_ function, `c` is what that gets and
    `forward` what MPI gets; `declare` is None when it cannot be translated, '' when nothing is to do."""

    def __init__(self, parameter, role, earlier):
        self.name = parameter.name
        self.type = parameter.type
        self.role = role
        self.forward = self.name
        self.c = f'c_{self.name}.c()'
        self.in_array = False
        self.declare = self.translation(parameter, earlier)
        self.updates = self.declare is not None and self.declare.split('<')[0].split(' ')[0] in (
            'Flag', 'HandleInOut', 'Index', 'Indices', 'Outcount', 'Requests', 'Status', 'Statuses')

    def translation(self, parameter, earlier):
        type_, name, role = self.type, self.name, self.role
        const = 'const ' in parameter.declare
        by_role = {argument.role: argument for argument in earlier}

        def local(class_, *more):
            return f'{class_} c_{name}({", ".join([name, *more])});'

        if type_ in NUMBERS:
            return local(f'Value<{type_}>')
        if type_ in HANDLES:
            return local(f'Handle<{type_}>')
        if type_ == 'void*':
            return local('Buffer')
        if type_[:-1] in NUMBERS and const:
            return local(f'Array<const {type_[:-1]}>')
        if role == 'name' and type_ == 'char*' and const:
            return f'String c_{name}({name}, length_of_{name});'
        if role in ('status', 'statuses'):
            self.forward = f'c_{name}.forward()'
        if role == 'status' and type_ == 'MPI_Status*':
            return local('Status')
        if role in ('requests', 'statuses', 'indices'):
            self.in_array = True
            if 'count' not in by_role:
                return None
            count = by_role['count'].c
            outcount = by_role.get('outcount')
            if role == 'requests' and type_ == 'MPI_Request*':
                return local('Requests', count)
            if role == 'statuses' and type_ == 'MPI_Status*':
                return local('Statuses', count, *([f'&c_{outcount.name}'] if outcount else []))
            if role == 'indices' and type_ == 'int*' and outcount:
                return local('Indices', count, f'c_{outcount.name}')
            return None
        if role == 'types' and type_ == 'MPI_Datatype*':
            return None  # needs the communicator, which comes later: see call_arguments()
        if type_[:-1] in HANDLES and not const:
            return local(f'HandleInOut<{type_[:-1]}>')
        if type_ == 'int*':
            if role in ('flag', 'index', 'outcount'):
                return local(role.capitalize())
            if role == 'provided':
                return local('Array<int>')
        return None


def fortran_parameters(function):
    without = 2 if function.name in WITHOUT_COMMAND_LINE else 0
    return function.parameters[without:]


def call_arguments(function, entry):
    """The arguments in the order of C, translated as far as possible."""
    parameters = fortran_parameters(function)
    roles = entry.arguments[-len(parameters):] if parameters else []
    if not roles:
        roles = ['' for _ in parameters]
    arguments = []
    for parameter, role in zip(parameters, roles):
        arguments.append(Argument(parameter, role, arguments))
    # Types: one for each peer, of the buffer before them. Not where the topology tells the number.
    communicator = next((a for a in arguments if a.role == 'comm'), None)
    if communicator and 'eighbor' not in function.name:
        buffer, room = None, iter(['kTypes', 'kMoreTypes'])
        for argument in arguments:
            if argument.role == 'buf':
                buffer = argument
            if argument.role == 'types' and buffer:
                argument.in_array = True
                argument.declare = (f'Types c_{argument.name}({next(room)}, {argument.name}, '
                                    f'c_{buffer.name}, {communicator.c});')
    # In this order each finds what it refers to.
    order = sorted(arguments, key=lambda a: (a.declare or '').startswith('Types '))
    return arguments, order


class Wrapper:
    """The text of one wrapper."""

    def __init__(self, function, entry):
        self.function = function
        self.kind = entry.kind
        self.blocking_collective = entry.blocking_collective
        self.call = f'k{function.name}'
        self.arguments, self.order = call_arguments(function, entry)
        self.untranslated = []
        recorded = self.kind not in ('region', 'abort')
        if recorded and not entry.arguments and self.arguments:
            self.untranslated = ['no roles in the table']
        elif recorded:
            self.untranslated = [a.name for a in self.arguments if a.declare is None]
        if self.untranslated:
            if self.kind in ('init', 'init_thread', 'session_init'):
                fail(f'{function.name}: no Fortran wrapper without {self.untranslated}')
            self.kind = 'region'

        names = [a.name for a in self.arguments]
        types = ['void*' for _ in names]
        self.error = function.name not in WITHOUT_ERROR
        if self.error:
            names.append('error')
            types.append('MPI_Fint*')
        lengths = [f'length_of_{a.name}' for a in self.arguments if a.type in STRINGS]
        self.names = names + lengths
        self.types = types + ['size_t' for _ in lengths]

    def parameters(self):
        return [f'{type_} {name}' for type_, name in zip(self.types, self.names)]

    def forward(self, replaced=()):
        """The call of the real function, with some arguments replaced."""
        return f'real({", ".join(dict(replaced).get(name, name) for name in self.names)})'

    def closure(self, arguments):
        """The real call as record_ functions make it, without arguments and returning a code."""
        replaced = [(a.name, a.forward) for a in arguments] + [('error', 'c_error.forward()')]
        code = 'c_error.code()' if self.error else 'MPI_SUCCESS'
        updates = ''.join(f'    c_{a.name}.update({code});\n' for a in arguments if a.updates)
        return f'[&](auto&&...) {{\n    {self.forward(replaced)};\n{updates}    return {code};\n  }}'

    def body(self):
        types = ', '.join(self.types)
        lines = [f'const auto real = real_function<void (*)({types})>(binding, {self.call});']
        starts = self.kind in STARTS_AND_ENDS
        if not starts:
            lines.append('ThreadLog* log = fortran::begin_call(call_site);')
            if self.blocking_collective:
                lines += ['if (log == nullptr && PeriodicSync::on()) {',
                          '  Error c_error(error);',
                          f'  Handle<MPI_Comm> c_comm({self.names[-2]});',
                          '  PeriodicSync::Collective counted(log, c_comm.c());',
                          f'  {self.forward([("error", "c_error.forward()")])};',
                          '  return void(counted.returned(c_error.code()));',
                          '}']
            passes = ' && !Recorder::on()' if self.kind in PASSED else ''
            lines.append(f'if (log == nullptr{passes}) return {self.forward()};')
        if self.error:
            lines.append('Error c_error(error);')
        recorded = f'Call recorded(log, {self.call});'
        replaced = [('error', 'c_error.forward()')]
        if self.kind == 'region':
            request = self.function.made_request()
            lines += [recorded, f'{self.forward(replaced)};']
            if request:
                lines += [f'HandleInOut<MPI_Request> c_request({request.name});',
                          'foreign_request(recorded, c_error.code(), c_request.c());']
            lines.append('recorded.leave();')
        elif self.kind == 'abort':
            lines.append(f'record_abort({self.call}, {self.closure([])}, handles.comm_null, 0);')
        else:
            lines += [a.declare for a in self.order]
            usable = [f'c_{a.name}.usable()' for a in self.order
                      if a.in_array or a.declare.startswith('String ')]
            if usable:
                lines.append(f'if (!({" && ".join(usable)})) return {self.forward()};')
            if self.kind in PASSED:
                passed = [self.closure(self.arguments)] + [a.c for a in self.arguments]
                lines.append(f'if (log == nullptr) return void({PASSED[self.kind]}({", ".join(passed)}));')
            if self.blocking_collective:
                lines.append(f'PeriodicSync::Collective counted(log, c_{self.arguments[-1].name}.c());')
            first = self.call if starts else f'Call(log, {self.call})'
            passed = [first] + (['call_site'] if starts else []) + [self.closure(self.arguments)]
            passed += ['nullptr', 'nullptr'] if self.kind in ('init', 'init_thread') else []
            passed += [a.c for a in self.arguments]
            made = f'record_{self.kind}({", ".join(passed)})'
            lines.append(f'counted.returned({made});' if self.blocking_collective else f'{made};')
        return lines

    def text(self):
        site = '[[maybe_unused]] const void* call_site'
        parameters = ', '.join(['Binding binding', site, *self.parameters()])
        body = ''.join(f'  {line}\n' for line in self.body())
        return f'static void fortran_{self.function.name}({parameters}) {{\n{body}}}\n'

    def symbol(self, name, binding, *aliases):
        parameters = ', '.join(self.parameters())
        names = ', '.join([binding, '__builtin_return_address(0)', *self.names])
        text = (f'RUBATO_EXPORT void {name}({parameters}) {{\n'
                f'  fortran_{self.function.name}({names});\n}}\n')
        for alias in aliases:
            text += (f'RUBATO_EXPORT void {alias}({parameters}) '
                     f'__attribute__((alias("{name}")));\n')
        return text

    def symbols_openmpi(self):
        name = self.function.name.lower()
        aliases = [f'{name}__']
        if self.function.name in POINTER_FORMS:
            aliases += [f'{name}_cptr_', f'{name}_cptr__']
        text = self.symbol(f'{name}_', 'kMpif', *aliases)
        if not NOT_IN_F08.match(self.function.name):
            text += self.symbol(f'{name}_f08_', 'kF08')
        return text

    def symbols_mpich(self):
        """Only what does not call the C function itself: mpi_f08 without message buffers, and a few."""
        name = self.function.name.lower()
        text = self.symbol(f'{name}_', 'kMpif', f'{name}__') if PAST_C.match(self.function.name) else ''
        buffers = [p for p in self.function.parameters if p.type == 'void*' and p.name not in NO_BUFFERS]
        if buffers or NOT_IN_F08.match(self.function.name):
            return text
        large = name.endswith('_c')
        return text + self.symbol(f'{name[:-2]}_f08_large_' if large else f'{name}_f08_', 'kF08')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--table', required=True)
    parser.add_argument('--header', required=True, help='mpi.h after the preprocessor')
    parser.add_argument('--out', required=True, help='directory for fortran_wrappers.cc')
    parser.add_argument('--report', action='store_true', help='name the calls without translation')
    options = parser.parse_args()
    openmpi = re.search(r'\bompi_\w+', open(options.header).read()) is not None

    if not openmpi:  # handles of C and Fortran are the same integers
        HANDLES.update(['MPI_Errhandler', 'MPI_Session'])

    texts, without = [], []
    for function, entry in wrapped_functions(options.table, options.header):
        wrapper = Wrapper(function, entry)
        symbols = wrapper.symbols_openmpi() if openmpi else wrapper.symbols_mpich()
        if not symbols:
            continue
        texts.append(wrapper.text() + symbols)
        if wrapper.untranslated:
            without.append(f'{function.name} ({", ".join(wrapper.untranslated)})')
    if options.report:
        print('\n'.join(without))

    with open(f'{options.out}/fortran_wrappers.cc', 'w') as out:
        out.write('// Regions only, for want of a translation of arguments:\n')
        out.writelines(f'//   {name}\n' for name in without or ['none'])
        out.write('#include "tracer/fortran.h"\n#include "tracer/wrappers.h"\n\n'
                  'using namespace rubato;\nusing namespace rubato::fortran;\n\n'
                  '#define RUBATO_EXPORT __attribute__((visibility("default")))\n\nextern "C" {\n\n')
        out.writelines(f'{text}\n' for text in texts)
        out.write('}  // extern "C"\n')


main()
