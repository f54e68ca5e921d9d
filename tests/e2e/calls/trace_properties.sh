#!/bin/sh
# Properties of the archive about the machine and the tracer's overhead: the cores that a rank may use, how often its
# threads were descheduled, and seconds for every kind of record.
. "$(dirname "$0")/../lib.sh"
build_program app -pthread -rdynamic <<'C'
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
/* Both threads spin on the only core of their rank for 0.1 s of its time, and so take it from each other. The
   kernel's own counts since the thread's first call to MPI are printed; the thread's is its last deed. */
static long count(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}
static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
static long spin(void) {
  int flag;
  MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  long first = count();
  double begin = seconds();
  while (seconds() < begin + 0.1) continue;
  return count() - first;
}
static void* work(void* lost) {
  *(long*)lost = spin();
  return lost;
}
/* The tracer must not begin MPI_T for the eager limit: under Open MPI 4 that takes 0.2 s. */
int PMPI_T_init_thread(int required, int* provided) {
  puts("MPI_T begins");
  return MPI_ERR_OTHER;
}
int main(int argc, char** argv) {
  cpu_set_t set;
  int provided, rank, core = 0;
  long lost[2];
  pthread_t thread;
  sched_getaffinity(0, sizeof set, &set);
  while (!CPU_ISSET(core, &set)) ++core;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_create(&thread, NULL, work, &lost[1]);
  lost[0] = spin();
  pthread_join(thread, NULL);
  printf("rank %d core %d lost %ld %ld\n", rank, core, lost[0], lost[1]);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
C
export OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=vader,tcp,self OMPI_MCA_btl_vader_eager_limit=6000
trace 2 --call-sites --functions ./app >out.txt 2>err.txt || fail "$(cat err.txt)"
! grep -q 'MPI_T begins' out.txt || fail "the tracer begins MPI_T"
otf2-print -G run.otf2dir/traces.otf2 >defs.txt
# property RECORD WHERE NAME: the value of it.
property() {
  sed -n "s/^$1 *$2.*Name: \"RUBATO::$3\".*Value: \"\(.*\)\" <.*/\1/p" defs.txt
}
for rank in 0 1; do
  sed -n "s/.*rank $rank core \([0-9]*\) lost \([0-9]*\) \([0-9]*\).*/\1 \2 \3/p" out.txt >said.txt
  read -r core main second <said.txt || fail "output: $(cat out.txt)"
  group="Location Group: \"MPI Rank $rank\""
  [ "$(property LOCATION_GROUP_PROPERTY "$group" AFFINITY_CORES)" = 1 ] || fail "cores: $(cat defs.txt)"
  [ "$(property LOCATION_GROUP_PROPERTY "$group" AFFINITY_LIST)" = "$core" ] || fail "not core $core: $(cat defs.txt)"
  [ "$(property LOCATION_GROUP_PROPERTY "$group" CORES_ON_NODE)" = "$(nproc --all)" ] || fail "node: $(cat defs.txt)"
  socket=$(cat "/sys/devices/system/cpu/cpu$core/topology/physical_package_id" 2>/dev/null || echo -1)
  [ "$socket" -lt 0 ] || grep -q "^LOCATION_GROUP .*\"MPI Rank $rank\".* \"socket::socket $socket\"" defs.txt ||
    fail "not on socket $socket: $(cat defs.txt)"
  # The tracer counts from the thread's first call to MPI_Finalize or its end, so a little more.
  found=$(property LOCATION_PROPERTY "Location: \"Master thread\" <$rank>" INVOLUNTARY_SWITCHES)
  [ "$found" -ge "$main" ] || fail "rank $rank lost its core $main times, not $found"
  [ "$main" -ge 2 ] || fail "rank $rank kept its core"
  found=$(property LOCATION_PROPERTY "Location: \"MPI thread 1\" <$((4294967296 + rank))>" INVOLUNTARY_SWITCHES)
  [ "$found" -ge "$second" ] && [ "$found" -le $((second + 20)) ] || fail "thread 1 lost its core $second times, not $found"
done
otf2-print -I run.otf2dir/traces.otf2 >info.txt
case $flavour in
  openmpi)
    limit=$(grep -A1 'RUBATO::EAGER_LIMIT_NODE$' info.txt | awk 'END { print $NF }')
    [ "$limit" = 6000 ] || fail "RUBATO::EAGER_LIMIT_NODE is '$limit'" ;;
esac
for kind in OUTSIDE INSIDE_BEFORE INSIDE_AFTER MESSAGE REQUEST COMPLETION COLLECTIVE FUNCTION CALL_SITE; do
  seconds=$(grep -A1 "RUBATO::OVERHEAD_$kind\$" info.txt | awk 'END { print $NF }')
  # Each is a difference of smallest averages, which noise on a busy core may make nothing of, but not less (the
  # tracer writes 0 then); what has a stamp of the clock or a new record in it is not nothing.
  least='>= 0'
  case $kind in OUTSIDE | REQUEST | FUNCTION) least='> 0' ;; esac
  awk "BEGIN { exit !(\"$seconds\" != \"\" && $seconds + 0 $least && $seconds + 0 < 1e-5) }" ||
    fail "RUBATO::OVERHEAD_$kind is '$seconds'"
done
pass
