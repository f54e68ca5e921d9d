#include "tracer/counters/papi_events.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <type_traits>

#include "tracer/counters/kernel_events.h"

namespace rubato {
inline namespace tracing {
namespace {

/// PAPI's functions, which are the same from version 5 on.
struct PapiFunctions {
  int (*library_init)(int version);
  int (*thread_init)(unsigned long (*id)());
  int (*unregister_thread)();
  int (*create_eventset)(int* set);
  int (*add_named_event)(int set, const char* name);
  int (*start)(int set);
  int (*read)(int set, long long* values);
  int (*stop)(int set, long long* values);
  int (*cleanup_eventset)(int set);
  int (*destroy_eventset)(int* set);
  char* (*strerror)(int code);
};
PapiFunctions papi;

constexpr int kPapiNull = -1;
constexpr int kPapiNotPermitted = -15, kPapiSystemError = -3;

/// Libraries by name, with the version that PAPI_library_init() expects.
struct PapiLibrary {
  const char* name;
  int version;
};
constexpr PapiLibrary kPapiLibraries[] = {
    {"libpapi.so.7.2", 0x07020000}, {"libpapi.so.7.1", 0x07010000}, {"libpapi.so.7.0", 0x07000000},
    {"libpapi.so.6.0", 0x06000000}, {"libpapi.so.5.7", 0x05070000},
};

unsigned long thread_identity() {
  return pthread_self();
}

bool find_papi_functions(void* library) {
  bool good = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    good = good && function != nullptr;
  };
  find(papi.library_init, "PAPI_library_init");
  find(papi.thread_init, "PAPI_thread_init");
  find(papi.unregister_thread, "PAPI_unregister_thread");
  find(papi.create_eventset, "PAPI_create_eventset");
  find(papi.add_named_event, "PAPI_add_named_event");
  find(papi.start, "PAPI_start");
  find(papi.read, "PAPI_read");
  find(papi.stop, "PAPI_stop");
  find(papi.cleanup_eventset, "PAPI_cleanup_eventset");
  find(papi.destroy_eventset, "PAPI_destroy_eventset");
  find(papi.strerror, "PAPI_strerror");
  return good;
}

std::string load_papi() {
  void* library = nullptr;
  const PapiLibrary* found = nullptr;
  for (const PapiLibrary& known : kPapiLibraries) {
    if (library != nullptr) break;
    library = dlopen(known.name, RTLD_NOW | RTLD_LOCAL);
    found = &known;
  }
  if (library == nullptr) {
    return "PAPI 5.7 to 7.2 is not installed (Debian: libpapi7.0; elsewhere LD_LIBRARY_PATH has to "
           "name the directory of libpapi.so)";
  }
  if (!find_papi_functions(library)) return std::string(found->name) + " lacks functions of PAPI";
  const int version = papi.library_init(found->version);
  if (version != found->version) {
    const char* why = version < 0 ? papi.strerror(version) : nullptr;
    return std::string(found->name) + " does not start" + (why ? std::string(": ") + why : "");
  }
  papi.thread_init(thread_identity);
  return "";
}

/// The files of events that this process has open.
std::set<int> event_files_open() {
  std::set<int> files;
  DIR* const directory = opendir("/proc/self/fd");
  if (directory == nullptr) return files;
  while (const dirent* entry = readdir(directory)) {
    char target[64] = "";
    const std::string name = std::string("/proc/self/fd/") + entry->d_name;
    const ssize_t length = readlink(name.c_str(), target, sizeof target - 1);
    if (length > 0 && std::strstr(target, "[perf_event]") != nullptr)
      files.insert(std::atoi(entry->d_name));
  }
  closedir(directory);
  return files;
}

/// PAPI's files must not reach programs that this one executes.
void close_on_exec(const std::set<int>& but) {
  for (const int file : event_files_open()) {
    if (but.count(file) == 0) fcntl(file, F_SETFD, FD_CLOEXEC);
  }
}

}  // namespace

std::string PapiCounters::load() {
  const int program_errno = errno;
  static const std::string trouble = load_papi();
  errno = program_errno;
  return trouble;
}

std::string PapiCounters::open(const std::vector<std::string>& events) {
  if (std::string trouble = load(); !trouble.empty()) return trouble;
  const int program_errno = errno;
  const std::set<int> before = event_files_open();
  set_ = kPapiNull;
  int error = papi.create_eventset(&set_);
  std::string culprit;
  for (const std::string& event : events) {
    if (error < 0) break;
    error = papi.add_named_event(set_, event.c_str());
    culprit = event;
  }
  if (error >= 0) error = papi.start(set_);
  close_on_exec(before);
  is_open_ = error >= 0;
  std::string trouble;
  if (!is_open_) {
    const char* why = papi.strerror(error);
    trouble = "PAPI cannot count " + culprit + " here: " + (why ? why : "unknown error");
    if (error == kPapiNotPermitted || error == kPapiSystemError) trouble = how_to_permit(culprit);
    close();
  }
  errno = program_errno;
  return trouble;
}

void PapiCounters::close() {
  if (set_ == kPapiNull) return;
  long long ignored[64];
  if (is_open_) papi.stop(set_, ignored);
  papi.cleanup_eventset(set_);
  papi.destroy_eventset(&set_);
  papi.unregister_thread();
  set_ = kPapiNull;
  is_open_ = false;
}

bool PapiCounters::read(uint64_t* values) {
  const int program_errno = errno;
  static_assert(sizeof(long long) == sizeof *values);
  const int error = papi.read(set_, reinterpret_cast<long long*>(values));
  errno = program_errno;
  return error >= 0;
}

}  // namespace tracing
}  // namespace rubato
