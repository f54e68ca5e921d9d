#!/bin/sh
# Messages of blocks of 4 bytes, 256 bytes apart: packing takes the time, and no network changes that. On `perfect` the
# run takes as long as recorded, less at most what contiguous data of that length take.
. "$(dirname "$0")/../lib.sh"
build_program strided <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  const int n = 1 << 18, distance = argc > 1 ? 1 : 64, messages = argc > 1 ? 200 : 8;
  int rank, *data = calloc((size_t)n * 64, 4);
  MPI_Datatype type;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_vector(n, 1, distance, MPI_INT, &type), MPI_Type_commit(&type);
  for (int i = 0; i < messages; i++) {
    if (rank == i % 2) MPI_Send(data, 1, type, 1 - rank, 0, MPI_COMM_WORLD);
    else MPI_Recv(data, 1, type, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
}
C

# seconds SCENARIO FILE
seconds() { jq ".scenarios[] | select(.name == \"$1\") | .elapsed" "$2"; }
for kind in holes contiguous; do
  if [ $kind = holes ]; then trace 2 ./strided; else trace 2 ./strided c; fi
  "$rubato" replay run.otf2dir --on perfect --on undisturbed --on infiniband-hdr --json $kind.json >out.txt || fail "$kind"
done
recorded=$(seconds undisturbed holes.json)
all=$(seconds undisturbed contiguous.json)  # 200 messages, beside which a disturbance is short
contiguous=$(jq -n "$all * 8 / 200")
for scenario in perfect infiniband-hdr; do
  kept=$(seconds $scenario holes.json)
  # 5 %: undisturbed also loses the time in which the other rank had no core.
  jq -ne "$kept >= 0.95 * $recorded - $contiguous" >/dev/null || fail "$scenario: $kept of $recorded s ($contiguous s)"
done
# Without holes it is the network, which perfect has not.
jq -ne "$(seconds perfect contiguous.json) < 0.5 * $all" >/dev/null || fail "perfect: $(seconds perfect contiguous.json) of $all s"
pass
