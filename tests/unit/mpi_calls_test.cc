// What the names of MPI calls tell. Expectations are those of the MPI standard.

#include <catch2/catch.hpp>

#include "replay/trace/mpi_calls.h"

using namespace rubato;

namespace {

bool communicates(const std::string& name) {
  return mpi_call_info(name).without_records == CallClass::kCommunicates;
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

TEST_CASE("messages, and what may wait for others, are told apart") {
  for (const char* name : {"MPI_Send", "MPI_Isendrecv", "MPI_Startall", "MPI_Recv_c"})
    CHECK(mpi_call_info(name).without_records == CallClass::kMessage);
  for (const char* name : {"MPI_Comm_agree", "MPI_Comm_shrink", "MPI_Session_finalize"})
    CHECK(communicates(name));
  for (const char* name : {"MPI_Pready", "MPI_Pready_range", "MPI_Pready_list"})
    CHECK(mpi_call_info(name).makes_ready);
  CHECK_FALSE(mpi_call_info("MPI_Parrived").makes_ready);
}

TEST_CASE("what only prepares or looks talks to nobody") {
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
