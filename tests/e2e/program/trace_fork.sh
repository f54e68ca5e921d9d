#!/bin/sh
# A child of fork() is no rank: instrumented functions that it calls, and its exit(), leave the records and the
# files of its parent alone.
. "$(dirname "$0")/../lib.sh"
build_program app -finstrument-functions <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void in_child(void) {}
void in_parent(void) {}
static int code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status); }
int main(int argc, char** argv) {
  int status;
  MPI_Init(&argc, &argv);
  in_parent();
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 1000; ++i) in_child();
    exit(3);
  }
  waitpid(child, &status, 0);
  in_parent();
  if (code(status) != 3) return code(status);
  MPI_Finalize();
  return 5;
}
C
rc=0
trace 1 --functions ./app >out.txt 2>err.txt || rc=$?
[ $rc = 5 ] || fail "exit code $rc: $(cat err.txt)"
grep '^rubato:' err.txt >said.txt || true
one_report said.txt
check_archive
expect 0 '^ENTER .*"in_child"'
expect 2 '^ENTER .*"in_parent"'
expect 1 '^LEAVE .*"MPI_Finalize"'
pass
