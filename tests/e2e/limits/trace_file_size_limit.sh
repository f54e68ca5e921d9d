#!/bin/sh
# A limit on the size of files (ulimit -f) that the program itself does not exceed: it ends as without the tracer, and
# the records end where a record file reached the limit. The program's own SIGXFSZ and handler work as without the
# tracer.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile int signals;
static void count(int number) { ++signals; }
int main(int argc, char** argv) {
  int rank, x = 1, sum = 0, i, calls = atoi(argv[1]);
  const char* what = argc > 2 ? argv[2] : "";
  if (!strcmp(what, "handle")) signal(SIGXFSZ, count);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (i = 0; i < calls; i++) MPI_Comm_size(MPI_COMM_WORLD, &sum);
  if (*what) { /* a file of the program's own, beyond the limit */
    char name[64], block[65536] = "";
    sprintf(name, "%s.%d", what, rank);
    const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    while (write(file, block, sizeof block) > 0) continue;
    if (errno != EFBIG || signals != 1) return 3;
  }
  MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d, %d\n", sum, signals);
  MPI_Finalize();
  return sum == 2 ? 7 : 4;
}
C
# limited KIB COMMAND...: two ranks.
limited() {
  limit=$1
  shift
  code=0
  run 2 bash -c "ulimit -f $limit; exec \"\$@\"" limited "$@" >out.txt 2>err.txt || code=$?
}
# What else keeps the archive from being written at the end is named. (A root's changes are not for other users.)
build_program refused <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int bad = 0;
  struct rlimit none = {3, 3};
  struct sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {4, rules};
  MPI_Init(&argc, &argv);
  if (!strcmp(argv[1], "chroot")) bad = mkdir("empty", 0700) || chroot("empty") || chdir("/");
  if (!strcmp(argv[1], "user")) bad = setuid(65534);
  if (!strcmp(argv[1], "files")) bad = setrlimit(RLIMIT_NOFILE, &none);
  if (!strcmp(argv[1], "seccomp"))
    bad = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
  MPI_Finalize();
  return bad ? 77 : 7;
}
C
for how in "chroot No such file or directory" "user Permission denied" "files Too many open files" \
  "seccomp Operation not permitted"; do
  code=0
  "$rubato" trace -o run.otf2dir ./refused "${how%% *}" >out.txt 2>err.txt || code=$?
  if [ $code != 77 ]; then
    [ $code = 7 ] || fail "${how%% *}: exit code $code: $(cat err.txt)"
    grep -q "^rubato: the trace is incomplete: writing to $work/run.otf2dir failed.*; ${how#* }. The records are kept (.*); run: rubato recover" err.txt ||
      fail "${how%% *}: $(cat err.txt)"
    "$rubato" recover run.otf2dir >out.txt 2>&1 || fail "${how%% *}: $(cat out.txt)"
  fi
  rm -rf run.otf2dir empty
done
# A call takes 8 bytes of memory and some 22 of the archive. With 8 MiB (MPI libraries make files of several themselves)
# the records reach the limit, stop and say so; the archive would pass it, too, so they are kept.
calls=1300000
limited 8192 ./app $calls
[ $code = 7 ] || fail "untraced: exit code $code: $(cat err.txt)"
cp out.txt untraced.txt
# beyond WHAT OPTIONS...: a traced run whose archive is made by 'rubato recover'.
beyond() {
  what=$1
  shift
  rm -rf run.otf2dir
  limited 8192 "$rubato" trace "$@" -o run.otf2dir ./app $calls
  [ $code = 7 ] || fail "$what: exit code $code: $(cat err.txt)"
  cmp out.txt untraced.txt || fail "$what: another result: $(cat out.txt)"
  [ "$(grep -c '^rubato: ' err.txt)" = 1 ] || fail "$what: lines: $(cat err.txt)"
  grep -q '^rubato: the trace is incomplete: .*the limit on the size of files (ulimit -f)\. .*raise the limit and run: rubato recover' err.txt ||
    fail "$what: message: $(cat err.txt)"
  # The same limit is an error of 'rubato recover' like any other, and the records stay.
  expect_failure 1 'writing failed; a file would exceed the limit on the size of files (ulimit -f). Nothing is lost: raise the limit' \
    bash -c 'ulimit -f 64; exec "$0" recover run.otf2dir' "$rubato"
  "$rubato" recover run.otf2dir >out.txt 2>&1 || fail "$what: recover: $(cat out.txt)"
  otf2-print -I run.otf2dir/traces.otf2 >properties.txt
  grep -A1 RUBATO::COMPLETE properties.txt | grep -q "value  *false: recovered, recording stopped before the end: the limit on the size of files (ulimit -f) ended recording" ||
    fail "$what: $(grep -A1 RUBATO::COMPLETE properties.txt)"
  # In all, 2 ranks: each MPI call is an ENTER and a LEAVE.
  otf2-print -G run.otf2dir/traces.otf2 | sed -n 's/^LOCATION .*# Events: \([0-9]*\).*/\1/p' >events.txt
  found=$(awk '{ n += $1 } END { print n / 2 }' events.txt)
}
# 8 MiB are 32 blocks of 256 KiB, each a head of 64 bytes and calls of 8: 32 * 32,760 calls of each rank at most. A tenth
# for what the tracer itself puts there.
most=$((2 * 32 * 32760))
mkdir disk
for where in /dev/shm disk; do
  beyond "in $where" --when-full stop --records $where
  awk "BEGIN { exit !($found <= $most + 100 && $found > 0.9 * $most) }" || fail "$found calls in $where, not $most"
done
[ -z "$(ls -A disk)" ] || fail "records are left: $(ls -A disk)"

# The program's own files: its handler is called once, for its own write.
rm -rf run.otf2dir
limited 8192 ./app $calls handle
[ $code = 7 ] || fail "untraced with a handler: exit code $code: $(cat err.txt)"
cp out.txt untraced.txt
limited 8192 "$rubato" trace -o run.otf2dir ./app $calls handle
[ $code = 7 ] || fail "handler: exit code $code: $(cat err.txt)"
cmp out.txt untraced.txt || fail "another result: $(cat out.txt)"
"$rubato" recover run.otf2dir >out.txt 2>&1 || true
# Without a handler the signal ends it as usual.
rm -rf run.otf2dir
limited 8192 ./app 10 die
expected=$code
limited 8192 "$rubato" trace -o run.otf2dir ./app 10 die
[ $code = "$expected" ] && [ $code != 7 ] || fail "SIGXFSZ: exit code $code, not $expected: $(cat err.txt)"
recover_ended
pass
