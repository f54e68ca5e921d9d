// Classification of MPI calls by their names, as in the MPI standard.

#include <catch2/catch.hpp>

#include "replay/trace/mpi_calls.h"

using namespace rubato;

namespace {

bool communicates(const std::string& name) {
  return mpi_call_info(name).without_records == CallClass::kCommunicates;
}

/// The properties of a call, in the terms of tracer/hooks/mpi_calls.txt.
std::string words_of(const std::string& name) {
  const MpiCallInfo info = mpi_call_info(name);
  std::string words = info.without_records == CallClass::kLocal          ? "local"
                      : info.without_records == CallClass::kCommunicates ? "communicates"
                                                                         : "message";
  const auto add = [&](bool is_said, const char* word) {
    if (is_said) words += std::string(" ") + word;
  };
  add(info.nonblocking, "nonblocking");
  add(info.synchronous, "synchronous");
  add(info.buffered, "buffered");
  add(info.other_requests, "other-requests");
  add(info.among_neighbours, "among-neighbours");
  add(info.frees_request, "frees-request");
  add(info.waits, "waits");
  add(info.tests, "tests");
  add(info.takes_some, "takes-some");
  add(info.probes, "probes");
  add(info.makes_ready, "makes-ready");
  add(info.one_sided, "one-sided");
  add(info.epoch == EpochStep::kPost, "epoch=post");
  add(info.epoch == EpochStep::kStart, "epoch=start");
  add(info.epoch == EpochStep::kComplete, "epoch=complete");
  add(info.init, "init");
  add(info.finalize, "finalize");
  CHECK(info.name == name);
  CHECK_FALSE(info.joins);
  return words;
}

}  // namespace

TEST_CASE("names of calls are brought to the standard's spelling") {
  for (const char* name : {"MPI_Send", "MPI_Send()", "PMPI_Send", "mpi_send", "mpi_send_",
                           "mpi_send__", "pmpi_send_", "MPI_SEND", "mpi_send_f08_", "MPI_Send_f08",
                           "MPI_Send_f08ts", "mpi_send_f08ts_", "MPI_SEND_FTS"}) {
    CAPTURE(name);
    CHECK(mpi_call_name(name) == "MPI_Send");
  }
  for (const char* name : {"MPI_Send_c", "MPI_Send_c()", "PMPI_Send_c", "MPI_Send_c_f08ts",
                           "mpi_send_f08_large_", "mpi_send_f08ts_large_"}) {
    CAPTURE(name);
    CHECK(mpi_call_name(name) == "MPI_Send_c");
  }
  CHECK(mpi_call_name("MPIX_Allreduce_init") == "MPI_Allreduce_init");
  for (const char* name : {"main", "mpi", "MPI_", "send_c", "my_mpi_send"}) {
    CAPTURE(name);
    CHECK(mpi_call_name(name).empty());
  }
}

TEST_CASE("whatever the language, MPI_Init begins and MPI_Finalize ends") {
  CHECK(mpi_call_info(mpi_call_name("mpi_init_f08_")).init);
  CHECK(mpi_call_info(mpi_call_name("mpi_init_thread_f08_")).init);
  CHECK(mpi_call_info(mpi_call_name("MPI_Finalize_f08")).finalize);
}

TEST_CASE("a call with large counts is to the replay what it is with small ones") {
  for (const char* name : {"MPI_Send",
                           "MPI_Ssend",
                           "MPI_Ibsend",
                           "MPI_Isend",
                           "MPI_Bcast",
                           "MPI_Ibcast",
                           "MPI_Bcast_init",
                           "MPI_Allreduce_init",
                           "MPI_Send_init",
                           "MPI_Reduce",
                           "MPI_Reduce_local",
                           "MPI_Get",
                           "MPI_Get_count",
                           "MPI_Get_elements",
                           "MPI_Rput",
                           "MPI_Win_shared_query",
                           "MPI_Neighbor_alltoall",
                           "MPI_Neighbor_alltoall_init",
                           "MPI_Neighbor_alltoallw_init",
                           "MPI_Ineighbor_alltoallw",
                           "MPI_File_iread",
                           "MPI_Psend_init"}) {
    CAPTURE(name);
    const MpiCallInfo small = mpi_call_info(name);
    const MpiCallInfo large = mpi_call_info(std::string(name) + "_c");
    CHECK(large.name == std::string(name) + "_c");
    CHECK(large.without_records == small.without_records);
    CHECK(large.nonblocking == small.nonblocking);
    CHECK(large.synchronous == small.synchronous);
    CHECK(large.buffered == small.buffered);
    CHECK(large.other_requests == small.other_requests);
    CHECK(large.among_neighbours == small.among_neighbours);
    CHECK(large.one_sided == small.one_sided);
  }
}

TEST_CASE("calls with messages and calls that may wait are distinguished") {
  for (const char* name : {"MPI_Send", "MPI_Isendrecv", "MPI_Startall", "MPI_Recv_c"})
    CHECK(mpi_call_info(name).without_records == CallClass::kMessage);
  for (const char* name : {"MPI_Comm_agree", "MPI_Comm_shrink", "MPI_Session_finalize"})
    CHECK(communicates(name));
  for (const char* name : {"MPI_Pready", "MPI_Pready_range", "MPI_Pready_list"})
    CHECK(mpi_call_info(name).makes_ready);
  CHECK_FALSE(mpi_call_info("MPI_Parrived").makes_ready);
}

TEST_CASE("calls that only prepare or query do not communicate") {
  for (const char* name :
       {"MPI_Allreduce_init", "MPI_Allreduce_init_c", "MPI_Neighbor_alltoall_init",
        "MPI_Neighbor_alltoall_init_c", "MPI_Get_count", "MPI_Get_count_c", "MPI_Get_elements_c",
        "MPI_Reduce_local_c", "MPI_Win_shared_query_c"}) {
    CAPTURE(name);
    CHECK_FALSE(communicates(name));
    CHECK_FALSE(mpi_call_info(name).among_neighbours);
  }
  for (const char* name :
       {"MPI_Allreduce", "MPI_Allreduce_c", "MPI_Get_c", "MPI_Neighbor_alltoall_c"})
    CHECK(communicates(name));
  CHECK(mpi_call_info("MPI_Neighbor_alltoall_c").among_neighbours);
}

TEST_CASE("kind and words of a call's line make its semantics") {
  const std::pair<const char*, const char*> expected[] = {
      {"MPI_Init_thread", "local init"},
      {"MPI_Finalize", "local finalize"},
      {"MPI_Send", "message"},
      {"MPI_Bsend", "message buffered"},
      {"MPI_Ssend", "message synchronous"},
      {"MPI_Irecv", "message"},
      {"MPI_Issend", "message nonblocking synchronous"},
      {"MPI_Ibsend", "message nonblocking buffered"},
      {"MPI_Isendrecv_replace", "message nonblocking"},
      {"MPI_Startall", "message nonblocking"},
      {"MPI_Ssend_init", "local synchronous"},
      {"MPI_Bsend_init", "local buffered"},
      {"MPI_Precv_init", "local"},
      {"MPI_Pready_list", "communicates makes-ready"},
      {"MPI_Parrived", "communicates"},
      {"MPI_Probe", "communicates"},
      {"MPI_Improbe", "communicates probes"},
      {"MPI_Wait", "communicates waits"},
      {"MPI_Waitall", "communicates waits"},
      {"MPI_Waitany", "communicates waits takes-some"},
      {"MPI_Waitsome", "communicates waits takes-some"},
      {"MPI_Testall", "communicates tests"},
      {"MPI_Testany", "communicates tests takes-some"},
      {"MPI_Testsome", "communicates tests takes-some"},
      {"MPI_Request_free", "local frees-request"},
      {"MPI_Allreduce", "communicates"},
      {"MPI_Ireduce_scatter_block", "communicates"},
      {"MPI_Ineighbor_alltoallv", "communicates among-neighbours"},
      {"MPI_Ineighbor_alltoallw", "communicates other-requests among-neighbours"},
      {"MPI_Neighbor_alltoallw_init", "local other-requests"},
      {"MPI_Comm_split", "communicates"},
      {"MPI_Comm_free", "local"},
      {"MPI_Comm_disconnect", "communicates"},
      {"MPI_Session_finalize", "communicates"},
      {"MPI_Put", "communicates one-sided"},
      {"MPI_Compare_and_swap", "communicates one-sided"},
      {"MPI_Rget_accumulate", "communicates other-requests one-sided"},
      {"MPI_Win_lock_all", "communicates one-sided"},
      {"MPI_Win_flush_local", "communicates one-sided"},
      {"MPI_Win_fence", "communicates"},
      {"MPI_Win_post", "communicates epoch=post"},
      {"MPI_Win_start", "communicates epoch=start"},
      {"MPI_Win_complete", "communicates epoch=complete"},
      {"MPI_Win_wait", "communicates"},
      {"MPI_Win_sync", "local"},
      {"MPI_Grequest_start", "local other-requests"},
  };
  for (const auto& [name, words] : expected) {
    CHECK(words_of(name) == words);
    CHECK(words_of(name + std::string("_c")) == words);
  }
}

TEST_CASE("a call without a line follows the first pattern that fits") {
  const std::pair<const char*, const char*> expected[] = {
      // MPI_Win_get_* and the like stand before MPI_Win_*, and lines before both.
      {"MPI_Win_get_attr", "local"},
      {"MPI_Win_create_errhandler", "local"},
      {"MPI_Win_free_keyval", "local"},
      {"MPI_Win_free", "communicates"},
      {"MPI_Win_foo", "communicates"},
      {"MPI_File_iread_at_all", "communicates other-requests"},
      {"MPI_File_write_ordered_end", "communicates"},
      {"MPI_File_set_info", "local"},
      {"MPI_Comm_rank", "local"},
      {"MPI_Type_create_struct", "local"},
      {"MPI_Get", "communicates one-sided"},
      {"MPI_Get_processor_name", "local"},
      {"MPI_Win_c2f", "local"},
      {"MPI_T_init_thread", "local"},
      {"MPI_Status_f082f", "local"},
      // Persistent forms that no MPI has yet.
      {"MPI_Reduce_foo_init", "local"},
      {"MPI_Reduce_foo", "communicates"},
      {"MPI_Waitfoo", "communicates waits"},
      // A pattern matches whole names.
      {"MPI_Foo", "local"},
      {"XMPI_Win_foo", "local"},
      {"MPI_Win", "local"},
      {"", "local"},
  };
  for (const auto& [name, words] : expected) CHECK(words_of(name) == words);
}

TEST_CASE("calls are known whichever MPI is installed") {
  const std::pair<const char*, const char*> expected[] = {
      // MPI 4.1
      {"MPI_Request_get_status_any", "communicates tests"},
      {"MPI_Comm_iflush_buffer", "local other-requests"},
      // Removed in MPI 3.0, extensions
      {"MPI_Type_struct", "local"},
      {"MPI_Errhandler_create", "local"},
      {"MPIX_Comm_shrink", "communicates"},
      {"MPIX_Comm_iagree", "communicates other-requests"},
      {"MPIX_Waitall_enqueue", "communicates waits"},
      {"MPIX_Allreduce_enqueue", "communicates"},
      {"MPIX_Allreduce_init", "local"},
      {"MPIX_Query_cuda_support", "local"},
  };
  for (const auto& [region, words] : expected) CHECK(words_of(mpi_call_name(region)) == words);
}
