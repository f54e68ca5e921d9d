#include "tracer/session/job.h"

#include <unistd.h>

namespace rubato {
inline namespace tracing {
namespace {

Job* present_job = nullptr;

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

Job* this_job() {
  return present_job;
}

Job& make_job() {
  present_job = new Job;
  present_job->settings = Settings::from_environment();
  present_job->host = host_name();
  return *present_job;
}

void enter_world(Job& job) {
  job.has_world = true;
  PMPI(Comm_dup)(handles.world, &job.comm);
  PMPI(Comm_rank)(job.comm, &job.rank);
  PMPI(Comm_size)(job.comm, &job.size);
}

bool all_ranks(MPI_Comm comm, bool mine) {
  int64_t local = mine, all = 0;
  PMPI(Allreduce)(&local, &all, 1, handles.int64, handles.min, comm);
  return all != 0;
}

bool any_rank(MPI_Comm comm, bool mine) {
  return !all_ranks(comm, !mine);
}

}  // namespace tracing
}  // namespace rubato
