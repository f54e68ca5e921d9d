#!/usr/bin/env python3
"""Writes the wrappers of one MPI library: the table mpi_calls.txt times the functions that the local
mpi.h declares.

    gen_wrappers.py --table mpi_calls.txt --header PREPROCESSED_MPI_H --out DIR

Out come two files. call_ids.h numbers the wrapped calls. wrappers.cc holds, for each of them,

    static int wrapped_MPI_Send(const void *buf, int count, ...) {
      const auto real = pmpi<decltype(&PMPI_Send)>(kMPI_Send);
      ThreadLog* log = begin_call();
      if (log == nullptr) return real(buf, count, ...);
      return record_send(Call(log, kMPI_Send), real, buf, count, ...);
    }

    RUBATO_ENTRY(MPI_Send, 215)

(the entries of MPI_Send and PMPI_Send jump there, see rubato_mpi_entries in pmpi.h; PeriodicSync counts blocking
collectives, so these have a guard of its own around them), and the list of names and roles that becomes the region definitions. What a call
means is not here but in call_*.h, by kind.
"""
import argparse

from mpi_header import PASSED, ROLES, STARTS_AND_ENDS, wrapped_functions


def wrapper(function, entry, number):
    call, arguments = f'k{function.name}', function.arguments()
    real = f'real({arguments})'
    declared = function.declaration().replace(f'{function.name}(', f'wrapped_{function.name}(', 1)
    lines = [f'static {declared} {{',
             f'  const auto real = pmpi<decltype(&P{function.name})>({call});']
    if entry.kind == 'session_init':
        # The MPI library is known only after this call, so arguments are passed on in full width: an int of the size of
        # our handles would truncate those of another library.
        names = [p.name for p in function.parameters]
        lines = [f'static int wrapped_{function.name}({", ".join(f"void* {name}" for name in names)}) {{',
                 f'  const auto real = pmpi<int (*)({", ".join("void*" for _ in names)})>({call});']
    if entry.kind in STARTS_AND_ENDS:
        comma = ', ' if arguments else ''
        site = '' if entry.kind == 'abort' else '__builtin_return_address(0), '
        lines.append(f'  return record_{entry.kind}({call}, {site}real{comma}{arguments});')
    elif function.variadic:  # MPI_Pcontrol: a wrapper library behind the tracer gets the call too, with all arguments
        more = [f'more[{i}]' for i in range(5)]  # passed in registers
        lines += ['  void* more[5];', '  va_list list;', f'  va_start(list, {arguments});',
                  '  for (void*& argument : more) argument = va_arg(list, void*);', '  va_end(list);',
                  '  ThreadLog* log = begin_call();',
                  f'  const int result = log == nullptr ? {real}',
                  f'      : record_{entry.kind}(Call(log, {call}), real, {arguments});',
                  '  const auto next = next_pcontrol.load(std::memory_order_relaxed);',
                  f'  return next == nullptr ? result : next({", ".join([arguments, *more])});']
    elif entry.blocking_collective:
        communicator = next(p.name for p in function.parameters if p.type == 'MPI_Comm')
        lines += ['  ThreadLog* log = begin_call();',
                  f'  PeriodicSync::Collective counted(log, {communicator});',
                  f'  return counted.returned(log == nullptr ? {real}',
                  f'      : record_{entry.kind}(Call(log, {call}), real, {arguments}));']
    else:
        passed = f'{PASSED[entry.kind]}(real, {arguments})' if entry.kind in PASSED else real
        inside = '{ const PeriodicSync::Inside inside; return %s; }' if entry.role == 'io' else 'return %s;'
        lines += [f'  {name} = interposed({name}, CallbackKind::k{kind});' for name, kind in function.callbacks()]
        lines += ['  ThreadLog* log = begin_call();', f'  if (log == nullptr) {inside % passed}']
        if entry.kind in ('binding_helper', 'type_commit', 'type_free'):
            lines.append(f'  if (made_by_binding(*log, kCalls[{call}].name)) return {passed};')
        if entry.kind in ('region', 'binding_helper'):
            request = function.made_request()
            lines += [f'  Call recorded(log, {call});', f'  const auto returned = {real};']
            if request:
                lines.append(f'  foreign_request(recorded, returned, {request.name});')
            lines += ['  recorded.leave();', '  return returned;']
        else:
            comma = ', ' if arguments else ''
            lines.append(f'  return record_{entry.kind}(Call(log, {call}), real{comma}{arguments});')
    return '\n'.join(lines + ['}', f'RUBATO_ENTRY({function.name}, {number})', ''])


# Wrappers of empty functions, generated like the others, to measure the cost of recording (measure_overhead.cc).
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

int probe_isend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                MPI_Request* request) {
  const auto real = pmpi<int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm,
                                 MPI_Request*)>(kProbeIsend);
  ThreadLog* log = begin_call();
  if (log == nullptr) return real(buf, count, type, dest, tag, comm, request);
  return record_isend(Call(log, kProbeIsend), real, buf, count, type, dest, tag, comm, request);
}

int probe_wait(MPI_Request* request, MPI_Status* status) {
  const auto real = pmpi<int (*)(MPI_Request*, MPI_Status*)>(kProbeWait);
  ThreadLog* log = begin_call();
  if (log == nullptr) return real(request, status);
  return record_wait(Call(log, kProbeWait), real, request, status);
}

int probe_allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm) {
  const auto real =
      pmpi<int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm)>(kProbeAllreduce);
  ThreadLog* log = begin_call();
  const int returned = log == nullptr
      ? real(from, to, count, type, op, comm)
      : record_collective<Allreduce>(Call(log, kProbeAllreduce), real, from, to, count, type, op,
                                     comm);
  return returned;
}
'''
# A plain jump: no argument is touched, whatever its type in the program's mpi.h.
ENTRY = '''#ifdef __x86_64__
#define RUBATO_BRANCH(place) "jmp *" place "(%rip)\\n"
#else
#define RUBATO_BRANCH(place) "adrp x16, " place "\\nldr x16, [x16, :lo12:" place "]\\nbr x16\\n"
#endif
#define RUBATO_JUMP(name, table, number)                                            \\
  asm(".pushsection .text\\n.globl " #name "\\n.type " #name ", %function\\n.p2align 4\\n" \\
      #name ":\\n.cfi_startproc\\n" RUBATO_BRANCH(#table "+8*" #number)                    \\
      ".cfi_endproc\\n.size " #name ", .-" #name "\\n.popsection");
#define RUBATO_ENTRY(name, number)              \\
  RUBATO_JUMP(name, rubato_mpi_entries, number) \\
  RUBATO_JUMP(P##name, rubato_pmpi_entries, number)

'''
PROBE_IDS = ['kProbeRegion', 'kProbeSend', 'kProbeIsend', 'kProbeWait', 'kProbeAllreduce']
# Non-MPI calls that are recorded like MPI calls (threads.cc), and their OTF2 roles.
PTHREAD_CALLS = {'pthread_create': 'THREAD_CREATE', 'pthread_join': 'THREAD_WAIT'}


def pthread_id(name):
    return 'k' + ''.join(word.capitalize() for word in name.split('_'))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--table', required=True)
    parser.add_argument('--header', required=True, help='mpi.h after the preprocessor')
    parser.add_argument('--out', required=True, help='directory for call_ids.h and wrappers.cc')
    options = parser.parse_args()

    wrapped = wrapped_functions(options.table, options.header)
    with open(f'{options.out}/call_ids.h', 'w') as out:
        out.write('#pragma once\n\nnamespace rubato {\ninline namespace tracing {\n\nenum CallId : unsigned {\n')
        for function, _ in wrapped:
            out.write(f'  k{function.name},\n')
        for probe in PROBE_IDS:
            out.write(f'  {probe},\n')
        for name in PTHREAD_CALLS:
            out.write(f'  {pthread_id(name)},\n')
        out.write('  kCallCount\n};\n\n}  // namespace tracing\n}  // namespace rubato\n')

    with open(f'{options.out}/wrappers.cc', 'w') as out:
        out.write('#include <cstdarg>\n\n#include "tracer/hooks/wrappers.h"\n#include "tracer/session/session_calls.h"\n\nnamespace rubato {\ninline namespace tracing {\n\n')
        out.write('const CallInfo kCalls[kCallCount] = {\n')
        for function, entry in wrapped:
            out.write(f'    {{"{function.name}", OTF2_REGION_ROLE_{ROLES[entry.role]}}},\n')
        out.write('    {"probe", OTF2_REGION_ROLE_FUNCTION},\n' * len(PROBE_IDS))
        for name, role in PTHREAD_CALLS.items():
            out.write(f'    {{"{name}", OTF2_REGION_ROLE_{role}}},\n')
        out.write('};\n')
        out.write(PROBES)
        out.write('\n}  // namespace tracing\n}  // namespace rubato\n\nusing namespace rubato;\n\n'
                  + ENTRY + 'extern "C" {\n\n')
        for number, (function, entry) in enumerate(wrapped):
            out.write(wrapper(function, entry, number) + '\n')
        for level in ['mpi', 'pmpi']:
            out.write(f'__attribute__((used)) void* rubato_{level}_entries[kCallCount] = {{\n')
            for function, _ in wrapped:
                out.write(f'    reinterpret_cast<void*>(&wrapped_{function.name}),\n')
            out.write('};\n')
        out.write('\n}  // extern "C"\n')


main()
