#!/bin/sh
# Other jobs on the same network, with a real archive: rubato replay --with.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  enum { kBytes = 1000000, kTimes = 10 };
  char* data = calloc(kBytes, 1);
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < kTimes; ++i) {
    if (rank == 0) MPI_Ssend(data, kBytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(data, kBytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
C
trace 2 ./app || fail "exit code $?"
check_archive
shared=bandela:latency=2us,bandwidth=10GB/s,ppn=1,contention=crossbar,contention.link_bandwidth=10GB/s
narrow=$shared,contention.backbone_bandwidth=10MB/s

"$rubato" replay run.otf2dir --on "$shared,name=apart" --on "$narrow,name=narrow" --json alone.json || fail "alone"
"$rubato" replay run.otf2dir --on "$shared,name=apart" --on "$narrow,name=narrow" \
  --with run.otf2dir --json twice.json >twice.txt || fail "twice"
"$rubato" replay run.otf2dir --on "$narrow,name=narrow" --with run.otf2dir@start=3600s --only \
  --json late.json >late.txt || fail "late"
# The backbone takes 0.1 s for each of 10 messages, one after the other. A copy of the job that begins with it doubles
# that: 1 s more. Without a backbone the copies meet nowhere; an hour later the first has ended.
"$python" - <<'P' || fail "$(cat twice.txt late.txt)"
import json
def scenarios(name):
    return {each["name"]: each for each in json.load(open(name))["scenarios"]}
alone, twice, late = (scenarios(name) for name in ("alone.json", "twice.json", "late.json"))
for name in "measured", "perfect":
    assert twice[name] == alone[name], name
narrow = twice["narrow"]
assert abs(narrow["elapsed"] - alone["narrow"]["elapsed"] - 1) < 1e-6, narrow["elapsed"]
assert abs(narrow["jobs"]["elapsed_without"] - alone["narrow"]["elapsed"]) < 1e-12
assert [job["nodes"] for job in narrow["jobs"]["others"]] == [[2, 3]]
assert abs(narrow["jobs"]["others"][0]["elapsed"] - narrow["elapsed"]) < 1e-6
assert abs(twice["apart"]["elapsed"] - alone["apart"]["elapsed"]) < 1e-12
assert twice["apart"]["ranks"] == alone["apart"]["ranks"]
assert abs(late["narrow"]["elapsed"] - alone["narrow"]["elapsed"]) < 1e-9
assert abs(late["narrow"]["jobs"]["others"][0]["elapsed"] - late["narrow"]["elapsed"]) < 1e-9
P
# The archive, picture and page of a scenario are of the first job, beside the other.
"$rubato" replay run.otf2dir --on "$narrow,name=narrow" --with run.otf2dir --only --otf2 copies --perfetto p.json \
  --html page.html >/dev/null || fail "pictures"
"$rubato" replay copies/narrow/*.otf2 --json copy.json || fail "the archive of a scenario"
"$python" - <<'P' || fail "$(ls copies)"
import json
copy = json.load(open("copy.json"))
assert len(copy["scenarios"][0]["ranks"]) == 2
narrow = [each for each in json.load(open("twice.json"))["scenarios"] if each["name"] == "narrow"][0]
assert abs(copy["scenarios"][0]["elapsed"] - narrow["elapsed"]) < 1e-6
assert len({event["pid"] for event in json.load(open("p.json"))["traceEvents"]}) == 2  # ranks
P

grep -q 'Other jobs on narrow cost' twice.txt || fail "$(cat twice.txt)"
grep -q 'run.otf2dir (2 ranks) takes .* there, on nodes 2-3\.' twice.txt || fail "$(cat twice.txt)"

"$rubato" replay run.otf2dir --on bandela:latency=2us --with run.otf2dir >none.txt 2>&1 || fail "$(cat none.txt)"
grep -q -e '--with has no effect' none.txt || fail "$(cat none.txt)"
expect_failure 2 "none of nodes=LIST" "$rubato" replay run.otf2dir --on "$narrow" --with run.otf2dir@node=3
expect_failure 1 "node 1 is that of" "$rubato" replay run.otf2dir --on "$narrow" --with run.otf2dir@nodes=1-2
expect_failure 1 "absent.otf2dir" "$rubato" replay run.otf2dir --on "$narrow" --with absent.otf2dir
pass
