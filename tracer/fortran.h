#pragma once

#include <algorithm>
#include <cstdint>

#include "tracer/communicators.h"
#include "tracer/recorder.h"

/// MPI calls from Fortran.
///
/// A Fortran program calls other symbols than a C program, and their implementations need not call
/// the C functions by names that a preloaded library can replace. Under Open MPI none does:
/// mpi_send_ (of mpif.h and `use mpi`) and mpi_send_f08_ (of `use mpi_f08`) get wrappers of their
/// own. MPICH's symbols call MPI_Send, whose wrapper sees them, except for calls of mpi_f08 without
/// a message buffer (mpi_wait_f08_) and calls that get and set attributes.
///
/// A generated wrapper (gen_fortran.py) passes the program's own arguments, untouched, to
/// pmpi_send_ or pmpi_send_f08_. The record_ functions of call_*.h get translations by the classes
/// below: one object per argument, made before the call, updated after it. They never write to the
/// program's memory.
namespace rubato::tracing::fortran {

/// The symbols a wrapper stands for.
enum Binding : unsigned { kMpif, kF08, kBindingCount };

/// The addresses of the functions behind the wrappers that were looked up already.
extern std::atomic<void*> functions[kBindingCount][kCallCount];
void* resolve(Binding binding, CallId id);

/// The MPI library's own Fortran function.
template <class Function>
inline Function real_function(Binding binding, CallId id) {
  void* address = functions[binding][id].load(std::memory_order_acquire);
  if (address == nullptr) [[unlikely]]
    address = resolve(binding, id);
  return reinterpret_cast<Function>(address);
}

/// Like begin_call(). If Fortran's default integer is not C's int, calls pass unrecorded: arrays of
/// counts would need a translation, too.
inline ThreadLog* begin_call(const void* call_site) {
  return sizeof(MPI_Fint) == sizeof(int) ? rubato::begin_call(call_site) : nullptr;
}

/// An address that stands for something else than memory: MPI_STATUS_IGNORE is a variable of its
/// own in Fortran. The common block it is in has a name for each way compilers spell names.
struct Sentinel {
  const void* at[4] = {};

  bool is(const void* address) const {
    return address != nullptr &&
           (address == at[0] || address == at[1] || address == at[2] || address == at[3]);
  }
};
struct Sentinels {
  Sentinel in_place;
  Sentinel status_ignore;
  Sentinel statuses_ignore;
};
extern Sentinels sentinels;

/// The C handle of a Fortran handle; a null handle for an unknown number, so that MPI reports the
/// error.
#ifdef OPEN_MPI
struct HandleFunctions {
  MPI_Comm (*comm)(MPI_Fint);
  MPI_Datatype (*type)(MPI_Fint);
  MPI_Group (*group)(MPI_Fint);
  MPI_Info (*info)(MPI_Fint);
  MPI_Message (*message)(MPI_Fint);
  MPI_Op (*op)(MPI_Fint);
  MPI_Request (*request)(MPI_Fint);
  MPI_Win (*win)(MPI_Fint);
};
extern HandleFunctions handle_functions;

inline void translate(MPI_Fint from, MPI_Comm& to) {
  to = handle_functions.comm(from);
  if (to == nullptr) to = handles.comm_null;
}
inline void translate(MPI_Fint from, MPI_Request& to) {
  to = handle_functions.request(from);
  if (to == nullptr) to = handles.request_null;
}
inline void translate(MPI_Fint from, MPI_Datatype& to) {
  to = handle_functions.type(from);
}
inline void translate(MPI_Fint from, MPI_Group& to) {
  to = handle_functions.group(from);
}
inline void translate(MPI_Fint from, MPI_Info& to) {
  to = handle_functions.info(from);
}
inline void translate(MPI_Fint from, MPI_Message& to) {
  to = handle_functions.message(from);
}
inline void translate(MPI_Fint from, MPI_Op& to) {
  to = handle_functions.op(from);
}
inline void translate(MPI_Fint from, MPI_Win& to) {
  to = handle_functions.win(from);
}
#else
inline void translate(MPI_Fint from, int& to) {
  to = from;
}
#endif

/// Arrays that calls need room for; each has its own.
enum Room { kRequests, kStatuses, kOwnStatuses, kIndices, kTypes, kMoreTypes, kName, kRoomCount };
void* room(Room which, size_t bytes);

/// The error code of a call, even if the program omits it (mpi_f08).
class Error {
 public:
  explicit Error(MPI_Fint* error) : error_(error != nullptr ? error : &own_) {}
  MPI_Fint* forward() { return error_; }
  int code() const { return *error_; }

 private:
  MPI_Fint own_ = MPI_SUCCESS;
  MPI_Fint* error_;
};

/// A number: int and so on; MPI_Fint where that is C's int.
template <class Number>
class Value {
 public:
  explicit Value(const void* at) : value_(*static_cast<const Number*>(at)) {}
  Number c() const { return value_; }

 private:
  Number value_;
};

template <class Type>
class Handle {
 public:
  explicit Handle(const void* at) { translate(*static_cast<const MPI_Fint*>(at), handle_); }
  Type c() const { return handle_; }

 private:
  Type handle_;
};

/// A handle that the call makes, changes or frees.
template <class Type>
class HandleInOut {
 public:
  explicit HandleInOut(const void* at) : at_(static_cast<const MPI_Fint*>(at)) { update(0); }
  Type* c() { return &handle_; }
  void update(int) { translate(*at_, handle_); }

 private:
  const MPI_Fint* at_;
  Type handle_;
};

/// The address of a message, or C's MPI_IN_PLACE.
class Buffer {
 public:
  explicit Buffer(void* at) : at_(sentinels.in_place.is(at) ? MPI_IN_PLACE : at) {}
  void* c() const { return at_; }
  bool in_place() const { return at_ == MPI_IN_PLACE; }

 private:
  void* at_;
};

/// An array of numbers, which Fortran and C have alike.
template <class Number>
class Array {
 public:
  explicit Array(void* at) : at_(static_cast<Number*>(at)) {}
  Number* c() const { return at_; }

 private:
  Number* at_;
};

/// A logical result.
class Flag {
 public:
  explicit Flag(const void* at) : at_(static_cast<const MPI_Fint*>(at)) {}
  int* c() { return &flag_; }
  void update(int) { flag_ = *at_ != 0; }

 private:
  const MPI_Fint* at_;
  int flag_ = 0;
};

/// The index of the first array element in the bindings: 1, but 0 in mpi_f08 of MPICH 4.0, against
/// the standard.
#ifdef OPEN_MPI
inline int first_index() {
  return 1;
}
#else
int first_index();
#endif

inline int index_of(MPI_Fint index) {
  return index == MPI_UNDEFINED ? MPI_UNDEFINED : index - first_index();
}

/// A resulting index into an array.
class Index {
 public:
  explicit Index(const void* at) : at_(static_cast<const MPI_Fint*>(at)) {}
  int* c() { return &index_; }
  void update(int) { index_ = index_of(*at_); }

 private:
  const MPI_Fint* at_;
  int index_ = MPI_UNDEFINED;
};

/// How many elements of array results are set. None after a failure under Open MPI, whose bindings
/// then leave the arrays half translated.
class Outcount {
 public:
  explicit Outcount(const void* at) : at_(static_cast<const MPI_Fint*>(at)) {}
  int* c() { return &count_; }
  int at_most(int count) const { return std::max(0, std::min(count_, count)); }
  void update(int code);

 private:
  const MPI_Fint* at_;
  int count_ = 0;
};

class Indices {
 public:
  Indices(const void* at, int count, const Outcount& outcount);
  bool usable() const { return indices_ != nullptr; }
  int* c() { return indices_; }
  void update(int);

 private:
  const MPI_Fint* at_;
  int count_;
  const Outcount& outcount_;
  int* indices_;
};

class Requests {
 public:
  Requests(const void* at, int count);
  bool usable() const { return requests_ != nullptr; }
  MPI_Request* c() { return requests_; }
  void update(int);

 private:
  const MPI_Fint* at_;
  size_t count_;
  MPI_Request* requests_;
};

/// The status of a call, even if the program ignores it.
class Status {
 public:
  explicit Status(void* at) : at_(sentinels.status_ignore.is(at) ? own_ : at) {}
  void* forward() { return at_; }
  MPI_Status* c() { return &status_; }
  void update(int code);

 private:
  alignas(MPI_Status) MPI_Fint own_[sizeof(MPI_Status) / sizeof(int)];
  void* at_;
  MPI_Status status_;
};

class Statuses {
 public:
  Statuses(void* at, int count, const Outcount* outcount = nullptr);
  bool usable() const { return at_ != nullptr && statuses_ != nullptr; }
  void* forward() { return at_; }
  MPI_Status* c() { return statuses_; }
  void update(int code);

 private:
  void* at_;
  int count_;
  const Outcount* outcount_;
  MPI_Status* statuses_;
};

/// A datatype for each peer, which goes with a buffer that may be MPI_IN_PLACE: the types then
/// mean nothing and are not looked at.
class Types {
 public:
  Types(Room which, const void* at, const Buffer& buffer, MPI_Comm comm);
  bool usable() const { return types_ != nullptr; }
  const MPI_Datatype* c() { return types_; }

 private:
  MPI_Datatype* types_;
};

/// A name given to MPI: blanks at the end are no part of it.
class String {
 public:
  String(const void* at, size_t length);
  bool usable() const { return text_ != nullptr; }
  const char* c() { return text_; }

 private:
  char* text_;
};

}  // namespace rubato::tracing::fortran
