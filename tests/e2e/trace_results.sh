#!/bin/sh
# A program sees the same with and without the tracer: results, statuses, indices, error codes.
. "$(dirname "$0")/lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
static void show(const char* what, int rc, MPI_Status* s) {
  int n = -1, class = -1;
  MPI_Get_count(s, MPI_CHAR, &n);
  MPI_Error_class(rc, &class);
  printf("%s: class %d source %d tag %d count %d\n", what, class, s->MPI_SOURCE, s->MPI_TAG, n);
}
int main(int argc, char** argv) {
  int rank, rc;
  char buffer[100] = "", text[10] = "rubato";
  MPI_Status s, many[4];
  MPI_Request r[4];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (rank == 0) {
    MPI_Send(text, 7, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
    MPI_Send(text, 7, MPI_CHAR, 1, 8, MPI_COMM_WORLD);
    MPI_Send(text, 0, MPI_CHAR, 1, 9, MPI_COMM_WORLD);
    MPI_Send(text, 1, MPI_CHAR, 1, 12, MPI_COMM_WORLD);
    MPI_Send(text, 1, MPI_CHAR, 1, 13, MPI_COMM_WORLD);
  } else {
    rc = MPI_Recv(buffer, 100, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
    show(buffer, rc, &s);
    memset(&s, 0, sizeof s);
    rc = MPI_Recv(buffer, 3, MPI_CHAR, 0, 8, MPI_COMM_WORLD, &s);  /* too long: truncated */
    MPI_Error_class(rc, &rc);
    printf("truncated: class %d\n", rc);
    rc = MPI_Recv(buffer, 3, MPI_CHAR, 0, 9, MPI_COMM_WORLD, &s);
    show("empty", rc, &s);
    /* Testsome and Waitsome: what is found at which index */
    int indices[4] = {77, 77, 77, 77}, out = -1;
    memset(many, 0x55, sizeof many);
    MPI_Irecv(buffer, 1, MPI_CHAR, 0, 99, MPI_COMM_WORLD, &r[0]);
    r[1] = MPI_REQUEST_NULL;
    MPI_Irecv(buffer + 1, 1, MPI_CHAR, 0, 12, MPI_COMM_WORLD, &r[2]);
    MPI_Wait(&r[2], MPI_STATUS_IGNORE);
    MPI_Irecv(buffer + 2, 1, MPI_CHAR, 0, 13, MPI_COMM_WORLD, &r[3]);
    rc = MPI_Waitsome(4, r, &out, indices, many);
    printf("waitsome: %d %d, index %d\n", rc, out, indices[0]);
    show("waitsome", rc, &many[0]);
    printf("null: %d %d %d\n", r[1] == MPI_REQUEST_NULL, r[2] == MPI_REQUEST_NULL, r[3] == MPI_REQUEST_NULL);
    out = -1;
    rc = MPI_Testsome(3, r + 1, &out, indices, MPI_STATUSES_IGNORE);
    printf("testsome: %d %d\n", rc, out == MPI_UNDEFINED);
    MPI_Cancel(&r[0]);
    MPI_Wait(&r[0], &s);
    int cancelled;
    MPI_Test_cancelled(&s, &cancelled);
    printf("cancelled: %d\n", cancelled);
  }
  rc = MPI_Recv(buffer, 3, MPI_CHAR, MPI_PROC_NULL, 9, MPI_COMM_WORLD, &s);
  printf("nobody: %d %d %d\n", rc, s.MPI_SOURCE == MPI_PROC_NULL, s.MPI_TAG == MPI_ANY_TAG);
  rc = MPI_Send(text, 1, MPI_CHAR, 17, 0, MPI_COMM_WORLD);
  MPI_Error_class(rc, &rc);
  printf("no such rank: %d\n", rc);
  rc = MPI_Wait(&(MPI_Request){MPI_REQUEST_NULL}, &s);
  printf("null request: %d\n", rc);
  int sum = rank + 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("sum: %d\n", sum);
  MPI_Finalize();
  int finalized;
  MPI_Finalized(&finalized);
  printf("finalized: %d\n", finalized);
  return 3 + rank;
}
C
cat >each.sh <<'SH'
#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
"$@" >out.$mode.$rank
echo $? >rc.$mode.$rank
SH
chmod +x each.sh
mode=plain; export mode
run 2 ./each.sh ./app || true
mode=traced
run 2 ./each.sh "$rubato" trace -o run.otf2dir ./app || true
for rank in 0 1; do
  diff out.plain.$rank out.traced.$rank || fail "rank $rank saw something else"
  [ "$(cat rc.traced.$rank)" = $((3 + rank)) ] || fail "exit code of rank $rank"
done
otf2-print -Werror --silent run.otf2dir/traces.otf2 >/dev/null || fail "otf2-print"
pass
