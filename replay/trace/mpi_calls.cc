#include "replay/trace/mpi_calls.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <string_view>

namespace rubato {
namespace {

bool starts_with_any(std::string_view name, std::initializer_list<const char*> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const char* prefix) { return name.rfind(prefix, 0) == 0; });
}

bool is_any(std::string_view name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* n) { return name == n; });
}

// clang-format off

/// Calls that move data or wait for another rank, by the start of their name. Blocking collectives
/// and completions are here because an archive may lack their records; tests and probes, because a
/// vain one has no record, and their number depends on the machine.
constexpr const char* kCommunicating[] = {
    "MPI_Wait", "MPI_Test", "MPI_Request_get_status",
    "MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Improbe", "MPI_Mrecv", "MPI_Imrecv",
    "MPI_Pready", "MPI_Parrived",
    "MPI_Barrier", "MPI_Bcast", "MPI_Gather", "MPI_Scatter", "MPI_Allgather", "MPI_Alltoall",
    "MPI_Allreduce", "MPI_Reduce", "MPI_Scan", "MPI_Exscan", "MPI_Neighbor_",
    "MPI_Ibarrier", "MPI_Ibcast", "MPI_Igather", "MPI_Iscatter", "MPI_Iallgather", "MPI_Ialltoall",
    "MPI_Iallreduce", "MPI_Ireduce", "MPI_Iscan", "MPI_Iexscan", "MPI_Ineighbor_",
    "MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Fetch_and_op", "MPI_Compare_and_swap",
    "MPI_Rput", "MPI_Rget", "MPI_Raccumulate", "MPI_Win_",
    "MPI_File_read", "MPI_File_write", "MPI_File_iread", "MPI_File_iwrite", "MPI_File_open",
    "MPI_File_close", "MPI_File_sync", "MPI_File_set_size", "MPI_File_set_view",
    "MPI_File_preallocate",
    "MPI_Comm_spawn", "MPI_Comm_connect", "MPI_Comm_accept", "MPI_Comm_disconnect", "MPI_Comm_join",
    "MPI_Comm_agree", "MPI_Comm_iagree", "MPI_Comm_shrink", "MPI_Comm_ishrink",
    "MPI_Session_finalize",
    "MPI_Comm_dup", "MPI_Comm_idup", "MPI_Comm_create", "MPI_Comm_split", "MPI_Cart_create",
    "MPI_Cart_sub", "MPI_Graph_create", "MPI_Dist_graph_create", "MPI_Intercomm_",
};

/// Calls that begin like those above and only look or prepare.
constexpr const char* kLocalAllTheSame[] = {
    "MPI_Test_cancelled", "MPI_Reduce_local",
    "MPI_Get_processor_name", "MPI_Get_count", "MPI_Get_elements", "MPI_Get_elements_x",
    "MPI_Get_address", "MPI_Get_version", "MPI_Get_library_version", "MPI_Get_hw_resource_info",
    "MPI_Win_get_attr", "MPI_Win_set_attr", "MPI_Win_delete_attr", "MPI_Win_get_group",
    "MPI_Win_get_name", "MPI_Win_set_name", "MPI_Win_get_errhandler", "MPI_Win_set_errhandler",
    "MPI_Win_call_errhandler", "MPI_Win_create_errhandler", "MPI_Win_create_keyval",
    "MPI_Win_free_keyval", "MPI_Win_get_info", "MPI_Win_set_info", "MPI_Win_attach",
    "MPI_Win_detach", "MPI_Win_shared_query", "MPI_Win_sync",
    "MPI_Comm_create_keyval", "MPI_Comm_create_errhandler",
};

/// Messages. In archives of most tracers those with MPI_PROC_NULL have no records.
constexpr const char* kMessages[] = {
    "MPI_Send", "MPI_Bsend", "MPI_Ssend", "MPI_Rsend", "MPI_Recv", "MPI_Sendrecv",
    "MPI_Sendrecv_replace", "MPI_Isend", "MPI_Ibsend", "MPI_Issend", "MPI_Irsend", "MPI_Irecv",
    "MPI_Isendrecv", "MPI_Isendrecv_replace", "MPI_Start", "MPI_Startall",
};

// clang-format on

/// True of the call that only prepares a persistent request: MPI_Send_init, MPI_Bcast_init.
bool only_prepares(std::string_view name) {
  return name.ends_with("_init");
}

bool communicates(std::string_view name) {
  if (only_prepares(name)) return false;
  const bool is_local = std::any_of(std::begin(kLocalAllTheSame), std::end(kLocalAllTheSame),
                                    [&](const char* local) { return name == local; });
  return !is_local && std::any_of(std::begin(kCommunicating), std::end(kCommunicating),
                                  [&](const char* begin) { return name.rfind(begin, 0) == 0; });
}

bool drop_end(std::string& name, std::string_view end) {
  if (!name.ends_with(end)) return false;
  name.resize(name.size() - end.size());
  return true;
}

/// What it does is that of its form for small counts: the name without the _c of a large one.
std::string small_form(std::string name) {
  drop_end(name, "_c");
  return name;
}

}  // namespace

std::string mpi_call_name(const std::string& region) {
  std::string name = region;
  drop_end(name, "()");
  while (drop_end(name, "_")) {
  }
  // The symbols of the module mpi_f08, and of array arguments by descriptor.
  const bool is_large = drop_end(name, "_large");
  for (const char* end : {"_f08ts", "_f08", "_fts", "_F08TS", "_F08", "_FTS"}) {
    if (drop_end(name, end)) break;
  }
  if (is_large) name += "_c";
  if (name.rfind("PMPI_", 0) == 0 || name.rfind("pmpi_", 0) == 0) name.erase(0, 1);
  if (name.rfind("MPIX_", 0) == 0) name.erase(3, 1);  // Open MPI 4's forms of MPI 4
  if (name.size() < 6) return "";
  std::string head = name.substr(0, 4);
  for (char& c : head) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (head != "MPI_") return "";
  // Fortran names arrive in one case; the standard writes a capital after MPI_ and small letters
  // on.
  const bool one_case =
      std::none_of(name.begin() + 4, name.end(), [](unsigned char c) { return std::islower(c); }) ||
      name.rfind("mpi_", 0) == 0;
  name.replace(0, 4, "MPI_");
  if (one_case) {
    for (size_t i = 4; i < name.size(); ++i) {
      const auto c = static_cast<unsigned char>(name[i]);
      name[i] = static_cast<char>(i == 4 ? std::toupper(c) : std::tolower(c));
    }
  }
  return name;
}

MpiCallInfo mpi_call_info(const std::string& call) {
  MpiCallInfo info;
  info.name = call;
  // All that follows asks for this one alone.
  const std::string name = small_form(call);
  info.init = is_any(name, {"MPI_Init", "MPI_Init_thread"});
  info.finalize = name == "MPI_Finalize";
  info.nonblocking =
      starts_with_any(name, {"MPI_Isend", "MPI_Ibsend", "MPI_Issend", "MPI_Irsend", "MPI_Start"});
  info.synchronous = starts_with_any(name, {"MPI_Ssend", "MPI_Issend"});
  info.buffered = starts_with_any(name, {"MPI_Bsend", "MPI_Ibsend"});
  info.frees_request = name == "MPI_Request_free";
  info.waits = starts_with_any(name, {"MPI_Wait"});
  info.tests = is_any(
      name, {"MPI_Test", "MPI_Testany", "MPI_Testsome", "MPI_Testall", "MPI_Request_get_status"});
  info.takes_some = is_any(name, {"MPI_Waitany", "MPI_Waitsome", "MPI_Testany", "MPI_Testsome"});
  info.probes = is_any(name, {"MPI_Iprobe", "MPI_Improbe"});
  info.makes_ready = starts_with_any(name, {"MPI_Pready"});
  info.one_sided =
      starts_with_any(name, {"MPI_Accumulate", "MPI_Get_accumulate", "MPI_Fetch_and_op",
                             "MPI_Compare_and_swap", "MPI_Rput", "MPI_Rget", "MPI_Raccumulate",
                             "MPI_Win_flush", "MPI_Win_lock", "MPI_Win_unlock"}) ||
      is_any(name, {"MPI_Put", "MPI_Get"});
  if (name == "MPI_Win_post") info.epoch = EpochStep::kPost;
  if (name == "MPI_Win_start") info.epoch = EpochStep::kStart;
  if (name == "MPI_Win_complete") info.epoch = EpochStep::kComplete;
  info.other_requests =
      starts_with_any(name, {"MPI_Ineighbor_alltoallw", "MPI_Neighbor_alltoallw_init", "MPI_Rput",
                             "MPI_Rget", "MPI_Raccumulate", "MPI_File_i", "MPI_Grequest_start"});
  info.among_neighbours =
      starts_with_any(name, {"MPI_Neighbor_", "MPI_Ineighbor_"}) && !only_prepares(name);
  if (communicates(name)) info.without_records = CallClass::kCommunicates;
  if (std::find(std::begin(kMessages), std::end(kMessages), name) != std::end(kMessages))
    info.without_records = CallClass::kMessage;
  return info;
}

}  // namespace rubato
