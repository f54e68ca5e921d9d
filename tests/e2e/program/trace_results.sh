#!/bin/sh
# A program sees the same with and without the tracer: results, statuses, indices, error codes.
. "$(dirname "$0")/../lib.sh"
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
  printf("proc null: %d %d %d\n", rc, s.MPI_SOURCE == MPI_PROC_NULL, s.MPI_TAG == MPI_ANY_TAG);
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
check_readable
# Requests that fail: a receive of too few bytes among others, in each call that completes requests, with statuses and
# without, which Open MPI treats differently where the request is persistent. Return values, remaining requests and
# arguments of error handlers depend on the MPI library and must not change.
build_program failing <<'C'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
enum { kWaitall, kTestall, kWaitsome, kTestsome, kWaitany, kTestany, kWait, kTest, kCalls };
static const char* calls[] = {"Waitall", "Testall", "Waitsome", "Testsome", "Waitany", "Testany", "Wait", "Test"};
enum { kPlain, kNull, kPersistent, kSend, kCancelled, kShapes };
static const char* shapes[] = {"plain", "null", "persistent", "send", "cancelled"};
static MPI_Comm other;
static int class_of(int rc) {
  int class;
  MPI_Error_class(rc, &class);
  return class;
}
static void handler(MPI_Comm* comm, int* code, ...) {
  printf("  handler of %s: class %d\n", *comm == other ? "other" : "another", class_of(*code));
}
/* 4 bytes with tags 0 to 3 on their way, then 0 bytes, so that they are here when that is */
static void send(int first, int last) {
  for (int i = first; i < last; ++i) MPI_Send("abcd", 4, MPI_CHAR, 1, i, other);
  MPI_Send(0, 0, MPI_CHAR, 1, 9, other);
  if (last < 4) MPI_Recv((char[4]){0}, 4, MPI_CHAR, 1, 11, other, MPI_STATUS_IGNORE);
  MPI_Recv(0, 0, MPI_CHAR, 1, 10, other, MPI_STATUS_IGNORE);
}
static void receive(int shape, int first, int last, int call, int ignore, int bad) {
  char b[4][4] = {{0}};
  MPI_Request r[4];
  MPI_Status s[4];
  int flag = -5, index = -5, n = -5, indices[4] = {-5, -5, -5, -5}, rc = 0;
  MPI_Recv(0, 0, MPI_CHAR, 0, 9, other, MPI_STATUS_IGNORE);
  for (int i = 0; i < 4; ++i) {
    /* of the four, bad 1: the second is too short; 2: the third too; 3: the first */
    int size = (i == 1 && (bad == 1 || bad == 2)) || (i == 2 && bad == 2) || (i == 0 && bad == 3) ? 2 : 4;
    r[i] = MPI_REQUEST_NULL;
    if (i < first && shape == kCancelled) {
      MPI_Irecv(b[i], size, MPI_CHAR, 0, 88, other, &r[i]);
      MPI_Cancel(&r[i]);
    }
    if (i < first) continue;
    if (i >= last) {
      MPI_Isend("abcd", 4, MPI_CHAR, 0, 11, other, &r[i]);
    } else if (shape == kPersistent) {
      MPI_Recv_init(b[i], size, MPI_CHAR, 0, i, other, &r[i]);
      MPI_Start(&r[i]);
    } else {
      MPI_Irecv(b[i], size, MPI_CHAR, 0, i, other, &r[i]);
    }
  }
  memset(s, 0, sizeof s);
  MPI_Status* statuses = ignore ? MPI_STATUSES_IGNORE : s;
  printf("%s %s ignore %d bad %d\n", shapes[shape], calls[call], ignore, bad);
  for (int turn = 0; turn < 4; ++turn) {
    switch (call) {
      case kWaitall: rc = MPI_Waitall(4, r, statuses); break;
      case kTestall: do rc = MPI_Testall(4, r, &flag, statuses); while (!rc && !flag); break;
      case kWaitsome: rc = MPI_Waitsome(4, r, &n, indices, statuses); break;
      case kTestsome: do rc = MPI_Testsome(4, r, &n, indices, statuses); while (!rc && !n); break;
      case kWaitany: rc = MPI_Waitany(4, r, &index, statuses); break;
      case kTestany: do rc = MPI_Testany(4, r, &index, &flag, statuses); while (!rc && !flag); break;
      case kWait: rc = MPI_Wait(&r[turn], statuses); break;
      case kTest: do rc = MPI_Test(&r[turn], &flag, statuses); while (!rc && !flag); break;
    }
    printf("  class %d flag %d index %d of %d: %d %d %d %d null", class_of(rc), flag, index, n, indices[0], indices[1],
           indices[2], indices[3]);
    for (int i = 0; i < 4; ++i) printf(" %d", r[i] == MPI_REQUEST_NULL);
    printf(" errors");
    for (int i = 0; i < 4; ++i) printf(" %d", class_of(s[i].MPI_ERROR));
    printf("\n");
  }
  printf("  received %.4s %.4s %.4s %.4s\n", b[0], b[1], b[2], b[3]);
  for (int i = 0; i < 4; ++i) {
    if (r[i] == MPI_REQUEST_NULL) continue;
    printf("  left %d: class %d\n", i, class_of(MPI_Wait(&r[i], MPI_STATUS_IGNORE)));
    if (r[i] != MPI_REQUEST_NULL) MPI_Request_free(&r[i]);
  }
  MPI_Send(0, 0, MPI_CHAR, 0, 10, other);
}
int main(int argc, char** argv) {
  int rank;
  MPI_Errhandler ours;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_create_errhandler(handler, &ours);
  for (int shape = 0; shape < 2 * kShapes; ++shape) {
    MPI_Errhandler now = shape < kShapes ? MPI_ERRORS_RETURN : ours;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, now);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, now);
    MPI_Comm_set_errhandler(other, now);
    int what = shape % kShapes;
    int first = what == kNull || what == kCancelled ? 1 : 0, last = what == kSend ? 3 : 4;
    for (int i = 0; i < kCalls * 2 * 4; ++i) {
      if (rank == 0) send(first, last);
      else receive(what, first, last, i / 8, i / 4 % 2, i % 4);
    }
  }
  MPI_Finalize();
  return 0;
}
C
run 2 ./failing >plain.txt
trace 2 ./failing >traced.txt
diff plain.txt traced.txt >difference || fail "requests that fail do so differently: $(head -20 difference)"
[ "$(grep -c '^persistent Waitall ignore 1 bad 1' traced.txt)" = 2 ] || fail "not all cases were run"
grep -q 'class [1-9]' traced.txt || fail "nothing failed"
check_readable

# What a program sets for itself, and finds again behind MPI: its locale, and the floating-point traps, flags and rounding
# of a thread. 0.5 and 10 pauses of more than 0.5 ms: after such ones the tracer asks the kernel for stolen time.
build_program settings -lm <<'C'
#define _GNU_SOURCE
#include <fenv.h>
#include <locale.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int i, rank, x = 1, y = 0, traps = FE_INEXACT | FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW;
  if (strcmp(argv[1], "early") == 0) setlocale(LC_ALL, "");
  if (strcmp(argv[1], "before") == 0) feenableexcept(traps);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (strcmp(argv[1], "late") == 0) setlocale(LC_NUMERIC, "");
  MPI_Barrier(MPI_COMM_WORLD);
  feclearexcept(FE_ALL_EXCEPT);
  if (strcmp(argv[1], "traps") == 0) feenableexcept(traps);
  if (strcmp(argv[1], "rounding") == 0) fesetround(FE_UPWARD);
  for (i = 0; i < 10000; ++i) {
    /* without messages, for which the library itself may compute */
    MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    if (i % 1000 == 0) usleep(600);
  }
  fprintf(stderr, "flags %x round %x traps %x\n", fetestexcept(FE_ALL_EXCEPT), fegetround(), fegetexcept());
  MPI_Finalize();
  fprintf(stderr, "then round %x traps %x\n", fegetround(), fegetexcept());
  fedisableexcept(FE_ALL_EXCEPT);
  fprintf(stderr, "%.1f\n", y + 0.5);
  return 5;
}
C
# settings MODE OPTIONS...: rank 0 sees the same when it is traced. (UCX, which MPICH may have below it, computes with
# inexact results when it starts and ends, and dies of traps then, with the archive written.)
settings() {
  how=$1
  shift
  code=0 traced=0
  ./settings "$how" >plain.txt 2>&1 || code=$?
  "$rubato" trace -o "set $how.otf2dir" "$@" ./settings "$how" >traced.txt 2>&1 || traced=$?
  [ $code = $traced ] || fail "$how $*: exit code $code, and traced $traced: $(cat traced.txt)"
  grep -E '^(flags|then|[0-9]+[.,]5$)' plain.txt >expected.txt
  grep -E '^(flags|then|[0-9]+[.,]5$)' traced.txt | diff expected.txt - || fail "$how $*: not the same"
  "$rubato" replay "set $how.otf2dir" --on measured >out.txt 2>&1 || fail "$how $*: $(cat out.txt)"
  rm -r "set $how.otf2dir"
}
# Rounding is of use without the traps, and both come with each way to record.
for options in "" "--functions" "--call-paths --sample 1ms" "--summary --call-sites --clock-domain rank --sync-every 0.001"; do
  # shellcheck disable=SC2086 # options are several words
  for how in traps rounding; do settings $how $options; done
done
code=0
./settings before >out.txt 2>&1 || code=$?
[ $code != 5 ] || settings before
if command -v localedef >/dev/null && localedef -i de_DE -f UTF-8 "$work/de_DE.UTF-8" 2>locale.txt; then
  export LOCPATH="$work" LC_ALL=de_DE.UTF-8
  for how in early late; do settings $how --window 0.0:60.5 --summary; done
  grep -q '^0,5$' expected.txt || fail "the locale has no comma: $(cat plain.txt)"
  ! grep -q '[0-9],[0-9]* s' traced.txt || fail "a comma in a message: $(cat traced.txt)"
  unset LOCPATH LC_ALL
else
  echo "no locale is tested: $(cat locale.txt)"
fi

# The AddressSanitizer, which finds its faults in a traced program too.
build_program sanitized -g -fsanitize=address <<'C' 2>out.txt || skip "there is no AddressSanitizer: $(cat out.txt)"
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  volatile char* bytes = malloc(10);
  MPI_Init(&argc, &argv);
  bytes[8 + argc] = 1;
  MPI_Finalize();
  return 0;
}
C
trace 1 ./sanitized >out.txt 2>&1 || fail "AddressSanitizer: $(cat out.txt)"
check_readable
expect_failure 1 "heap-buffer-overflow" "$rubato" trace ./sanitized by-one
pass
