#include "tracer/fortran.h"

#include <dlfcn.h>
#include <link.h>

#include <cctype>
#include <cstring>
#include <mutex>
#include <string>

#include "tracer/scratch.h"

namespace rubato::tracing::fortran {

std::atomic<void*> functions[kBindingCount][kCallCount];
Sentinels sentinels;
#ifdef OPEN_MPI
HandleFunctions handle_functions;
#endif

namespace {

using StatusFunction = int (*)(const MPI_Fint*, MPI_Status*);
StatusFunction status_function;

thread_local Scratch rooms[kRoomCount];

/// A symbol of the Fortran bindings. They are libraries of their own (libmpi_mpifh, libmpichfort),
/// which may have been loaded with RTLD_LOCAL.
void* binding_symbol(const char* name, void* where = RTLD_DEFAULT) {
  if (void* address = dlsym(where, name)) return address;
  struct Search {
    const char* name;
    void* found;
  } search{name, nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        const char* slash = std::strrchr(info->dlpi_name, '/');
        if (slash == nullptr || std::strncmp(slash + 1, "libmpi", 6) != 0) return 0;
        void* library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) return 0;
        wanted.found = dlsym(library, wanted.name);
        return wanted.found != nullptr ? 1 : 0;
      },
      &search);
  return search.found;
}

#ifdef OPEN_MPI
constexpr char kF08Mark[] = "";  // pmpi_send_f08_
#else
constexpr char kF08Mark[] = "r";  // pmpir_wait_f08_, but pmpi_wait_
#endif

/// What the bindings call a function, or its profiling form.
std::string symbol(Binding binding, CallId id, bool profiling) {
  std::string name = kCalls[id].name;
  std::string suffix = binding == kF08 ? "_f08_" : "_";
  if (name.ends_with("_c")) {
    name.resize(name.size() - 2);
    suffix = "_f08_large_";
  }
  for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
  if (profiling && binding == kF08) name.insert(name.find('_'), kF08Mark);
  return (profiling ? "p" : "") + name + suffix;
}

/// Stands in for a function that is nowhere to be found.
void missing_function() {}

#ifdef OPEN_MPI
template <class Function>
void load(Function& function, const char* name) {
  function = reinterpret_cast<Function>(mpi_symbol(name));
}

/// The common block of Open MPI's bindings in all spellings. The one that counts is the program's,
/// if it has a copy, and a lookup from the beginning finds that first.
Sentinel common_block(const std::string& name) {
  std::string upper = name;
  for (char& letter : upper) letter = static_cast<char>(std::toupper(letter));
  Sentinel block;
  size_t i = 0;
  for (const std::string& spelling : {name + "_", name + "__", name, upper}) {
    block.at[i++] = binding_symbol(spelling.c_str());
  }
  return block;
}

void load_translations() {
  load(handle_functions.comm, "PMPI_Comm_f2c");
  load(handle_functions.type, "PMPI_Type_f2c");
  load(handle_functions.group, "PMPI_Group_f2c");
  load(handle_functions.info, "PMPI_Info_f2c");
  load(handle_functions.message, "PMPI_Message_f2c");
  load(handle_functions.op, "PMPI_Op_f2c");
  load(handle_functions.request, "PMPI_Request_f2c");
  load(handle_functions.win, "PMPI_Win_f2c");
  load(status_function, "PMPI_Status_f2c");
  sentinels.in_place = common_block("mpi_fortran_in_place");
  sentinels.status_ignore = common_block("mpi_fortran_status_ignore");
  sentinels.statuses_ignore = common_block("mpi_fortran_statuses_ignore");
}
#else
void load_translations() {
  status_function = reinterpret_cast<StatusFunction>(mpi_symbol("PMPI_Status_f2c"));
  sentinels.status_ignore.at[0] = binding_symbol("MPIR_F08_MPI_STATUS_IGNORE_OBJ");
  sentinels.statuses_ignore.at[0] = binding_symbol("MPIR_F08_MPI_STATUSES_IGNORE_OBJ");
}
#endif

void translate_status(const void* from, int code, MPI_Status* to) {
#ifdef OPEN_MPI
  // Open MPI's bindings give no statuses back when a call fails.
  if (code != MPI_SUCCESS) {
    to->MPI_ERROR = MPI_ERR_PENDING;
    return;
  }
#else
  (void)code;
#endif
  status_function(static_cast<const MPI_Fint*>(from), to);
}

template <class Element>
Element* elements_in(Room which, int count) {
  return static_cast<Element*>(
      room(which, static_cast<size_t>(std::max(count, 1)) * sizeof(Element)));
}

}  // namespace

void* resolve(Binding binding, CallId id) {
  static std::once_flag once;
  std::call_once(once, load_translations);
  void* address = binding_symbol(symbol(binding, id, true).c_str());
  if (address == nullptr) address = binding_symbol(symbol(binding, id, false).c_str(), RTLD_NEXT);
  if (address == nullptr) address = reinterpret_cast<void*>(&missing_function);
  functions[binding][id].store(address, std::memory_order_release);
  return address;
}

void* room(Room which, size_t bytes) {
  return rooms[which].get(bytes);
}

#ifndef OPEN_MPI
namespace {

/// Lets the bindings find the only one of one request.
int ask_first_index() {
  MPI_Request request;
  PMPI(Irecv)(nullptr, 0, handles.byte, MPI_PROC_NULL, 0, handles.self, &request);
  using Waitany = void (*)(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Status*, MPI_Fint*);
  MPI_Fint count = 1, index = 1, error = MPI_SUCCESS;
  MPI_Status status;
  real_function<Waitany>(kF08, kMPI_Waitany)(&count, &request, &index, &status, &error);
  return index;
}

}  // namespace

int first_index() {
  static const int first = ask_first_index();
  return first;
}
#endif

void Outcount::update(int code) {
#ifdef OPEN_MPI
  count_ = code == MPI_SUCCESS ? *at_ : 0;
#else
  (void)code;
  count_ = *at_;
#endif
}

Indices::Indices(const void* at, int count, const Outcount& outcount)
    : at_(static_cast<const MPI_Fint*>(at)),
      count_(count),
      outcount_(outcount),
      indices_(elements_in<int>(kIndices, count)) {}

void Indices::update(int) {
  const int n = outcount_.at_most(count_);
  for (int i = 0; i < n; ++i) indices_[i] = index_of(at_[i]);
}

Requests::Requests(const void* at, int count)
    : at_(static_cast<const MPI_Fint*>(at)),
      count_(static_cast<size_t>(std::max(count, 0))),
      requests_(elements_in<MPI_Request>(kRequests, count)) {
  if (usable()) update(MPI_SUCCESS);
}

void Requests::update(int) {
  for (size_t i = 0; i < count_; ++i) translate(at_[i], requests_[i]);
}

void Status::update(int code) {
  translate_status(at_, code, &status_);
}

Statuses::Statuses(void* at, int count, const Outcount* outcount)
    : at_(at),
      count_(count),
      outcount_(outcount),
      statuses_(elements_in<MPI_Status>(kStatuses, count)) {
  if (sentinels.statuses_ignore.is(at)) at_ = elements_in<MPI_Status>(kOwnStatuses, count);
}

void Statuses::update(int code) {
  const int n = outcount_ != nullptr ? outcount_->at_most(count_) : count_;
  auto* at = static_cast<const char*>(at_);
  for (int i = 0; i < n; ++i, at += sizeof(MPI_Status)) translate_status(at, code, &statuses_[i]);
}

Types::Types(Room which, const void* at, const Buffer& buffer, MPI_Comm comm) {
  int peers = 0;
  if (!buffer.in_place() && comm != handles.comm_null) peers = communicators::find(comm)->peers();
  types_ = elements_in<MPI_Datatype>(which, peers);
  if (!usable()) return;
  for (int i = 0; i < peers; ++i) translate(static_cast<const MPI_Fint*>(at)[i], types_[i]);
}

String::String(const void* at, size_t length) {
  const auto* text = static_cast<const char*>(at);
  while (length > 0 && text[length - 1] == ' ') --length;
  text_ = static_cast<char*>(room(kName, length + 1));
  if (!usable()) return;
  std::memcpy(text_, text, length);
  text_[length] = '\0';
}

}  // namespace rubato::tracing::fortran
