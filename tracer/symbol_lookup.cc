#include "tracer/symbol_lookup.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "tracer/loaded_objects.h"
#include "tracer/pmpi.h"

extern "C" {

/// What the stubs below jump to, found at their first call: constructors of other libraries may run
/// before ours.
__attribute__((visibility("hidden"))) void* rubato_real_dlsym = nullptr;
__attribute__((visibility("hidden"))) void* rubato_real_dlopen = nullptr;
/// A library was loaded with RTLD_DEEPBIND, and its references are still to be looked at.
__attribute__((visibility("hidden"))) unsigned char rubato_deepbind_pending = 0;

}  // extern "C"

namespace rubato {
inline namespace tracing {
namespace {

using Dlsym = void* (*)(void*, const char*);

/// Of what follows. Never waited for: a thread that loads a library holds the loader's lock, which
/// the owner of this one may want.
std::mutex lookup_mutex;
/// What was loaded before the libraries that are still to be looked at.
std::vector<const link_map*>* loaded_before = nullptr;

std::atomic<bool> asked_by_dlsym{false};
std::atomic<bool> bound_deeply{false};

/// The C library's dlsym or dlopen. Since version 2.34 they are in libc.so, before in libdl.so.
void* function_of_libc(const char* name) {
  void* address = dlvsym(RTLD_NEXT, name, "GLIBC_2.34");
  return address != nullptr ? address : dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5");
}

void find_real_functions() {
  __atomic_store_n(&rubato_real_dlopen, function_of_libc("dlopen"), __ATOMIC_RELEASE);
  __atomic_store_n(&rubato_real_dlsym, function_of_libc("dlsym"), __ATOMIC_RELEASE);
}

/// The library of MPI that the wrappers call; null before there is one.
const link_map* mpi_library() {
  const void* init = mpi_function("PMPI_Init");
  return init != nullptr ? objects::holding(init) : nullptr;
}

/// The tracer's own PMPI function for the name of an MPI or PMPI function; null where it has none.
void* recording_function(const char* name) {
  const link_map* own = objects::holding(reinterpret_cast<const void*>(&recording_function));
  const std::string profiling = (*name == 'P' ? "" : "P") + std::string(name);
  void* function = own != nullptr ? objects::scope_definition(*own, profiling.c_str()) : nullptr;
  return function != nullptr && objects::holding(function) == own ? function : nullptr;
}

/// Leads the references of libraries that were loaded with RTLD_DEEPBIND to the tracer.
void bind_new_libraries() {
  const std::unique_lock lock(lookup_mutex, std::try_to_lock);
  if (!lock.owns_lock() || loaded_before == nullptr) return;
  const link_map* const library = mpi_library();
  if (library == nullptr) return;
  for (const link_map* object : objects::all()) {
    if (object == library ||
        std::find(loaded_before->begin(), loaded_before->end(), object) != loaded_before->end())
      continue;
    for (const objects::Reference& reference : objects::mpi_references(*object)) {
      const void* meant = objects::scope_definition(*object, reference.function);
      if (meant == nullptr || objects::holding(meant) != library) continue;
      void* const own = recording_function(reference.function);
      if (own != nullptr && objects::rebind(reference, own)) bound_deeply = true;
    }
  }
  delete loaded_before;
  loaded_before = nullptr;
  rubato_deepbind_pending = 0;
}

/// The definition of a function that dlsym(RTLD_NEXT) gives to code of `caller`, where that is
/// behind the tracer: the first one of the libraries behind it.
void* next_definition(const link_map& caller, const char* name) {
  for (const link_map* object = caller.l_next; object != nullptr; object = object->l_next) {
    void* function = objects::scope_definition(*object, name);
    if (function != nullptr && objects::holding(function) == object) return function;
  }
  return nullptr;
}

/// What dlsym() answers instead of a function of the MPI library; null: what it answers by itself.
void* answer(void* handle, const char* name, const void* call_site) {
  if (std::strncmp(name, "MPI", 3) != 0 && std::strncmp(name, "PMPI", 4) != 0) return nullptr;
  if (handle == RTLD_DEFAULT) {
    // Also to a library that was loaded with RTLD_DEEPBIND, which would find MPI's.
    void* const found = real_dlsym(RTLD_DEFAULT, name);
    const link_map* own = objects::holding(reinterpret_cast<const void*>(&answer));
    return found != nullptr && objects::holding(found) == own ? found : nullptr;
  }
  const void* found = nullptr;
  if (handle == RTLD_NEXT) {
    const link_map* caller = objects::holding(call_site);
    // Where nothing of that name is behind the tracer, there is nothing for the caller either.
    if (caller == nullptr || real_dlsym(RTLD_NEXT, name) == nullptr) return nullptr;
    found = next_definition(*caller, name);
  } else {
    found = real_dlsym(handle, name);
  }
  if (found == nullptr) return nullptr;
  const link_map* const library = mpi_library();
  if (library == nullptr || objects::holding(found) != library) return nullptr;
  void* const own = recording_function(name);
  if (own != nullptr) asked_by_dlsym = true;
  return own;
}

}  // namespace

void* real_dlsym(void* handle, const char* name) {
  if (rubato_real_dlsym == nullptr) find_real_functions();
  return reinterpret_cast<Dlsym>(rubato_real_dlsym)(handle, name);
}

std::vector<std::string> unwatched_libraries() {
  std::vector<std::string> names;
  const link_map* const library = mpi_library();
  if (library == nullptr) return names;
  const objects::Range code = objects::range_of(*library);
  for (const link_map* object : objects::all()) {
    if (object == library) continue;
    for (const objects::Reference& reference : objects::mpi_references(*object)) {
      // Most references lead elsewhere, or to functions that only compute.
      if (!code.has(*reference.place)) continue;
      if (recording_function(reference.function) == nullptr) continue;
      names.push_back(objects::file_name(*object));
      break;
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool functions_looked_up() {
  return asked_by_dlsym;
}
bool libraries_bound_deeply() {
  return bound_deeply;
}

}  // namespace tracing
}  // namespace rubato

/// The slow path of dlsym(): for names of MPI, and where something is to be done before.
extern "C" __attribute__((visibility("hidden"), used)) void* rubato_looked_up(
    void* handle, const char* name, const void* call_site) {
  using namespace rubato;
  if (rubato_real_dlsym == nullptr) find_real_functions();
  if (rubato_deepbind_pending != 0) bind_new_libraries();
  return answer(handle, name, call_site);
}

/// That of dlopen(): a library is about to be loaded with RTLD_DEEPBIND, or it is the first call.
extern "C" __attribute__((visibility("hidden"), used)) void rubato_before_open(int flags) {
  using namespace rubato;
  if (rubato_real_dlopen == nullptr) find_real_functions();
  if ((flags & RTLD_DEEPBIND) == 0) return;
  if (rubato_deepbind_pending != 0) bind_new_libraries();
  const std::unique_lock lock(lookup_mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  if (loaded_before == nullptr) loaded_before = new std::vector<const link_map*>(objects::all());
  rubato_deepbind_pending = 1;
}

/// dlsym and dlopen of the program. Not functions of C++, as these could not hand on their caller.
asm(R"(
  .pushsection .text
  .globl dlsym
  .type dlsym, @function
  .p2align 4
dlsym:
  .cfi_startproc
  cmpq $0, rubato_real_dlsym(%rip)
  je 1f
  cmpb $0, rubato_deepbind_pending(%rip)
  jne 1f
  movzbl (%rsi), %eax
  cmpb $77, %al                   # 'M'
  je 1f
  cmpb $80, %al                   # 'P'
  je 1f
  jmp *rubato_real_dlsym(%rip)
1:
  movq (%rsp), %rdx               # the return address
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call rubato_looked_up
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  testq %rax, %rax
  jne 2f
  jmp *rubato_real_dlsym(%rip)
2:
  ret
  .cfi_endproc
  .size dlsym, .-dlsym

  .globl dlopen
  .type dlopen, @function
  .p2align 4
dlopen:
  .cfi_startproc
  cmpq $0, rubato_real_dlopen(%rip)
  je 1f
  testb $8, %sil                  # RTLD_DEEPBIND
  jne 1f
  jmp *rubato_real_dlopen(%rip)
1:
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  movl %esi, %edi
  call rubato_before_open
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  jmp *rubato_real_dlopen(%rip)
  .cfi_endproc
  .size dlopen, .-dlopen
  .popsection
)");
