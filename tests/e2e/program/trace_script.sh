#!/bin/sh
# A script that starts the program: the tracer reaches it, and helper programs print nothing. A program of another MPI
# than the launcher's is detected: refused on the command line, traced as a job of one rank in a script.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
int main(int argc, char** argv) { MPI_Init(&argc, &argv); MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize(); }
C
printf '#!/bin/bash\nls >/dev/null\n(true)\n./app\ncat /dev/null\n' >job.sh
chmod +x job.sh
trace 2 ./job.sh >out.txt 2>err.txt || fail "exit code $?"
one_report err.txt
check_archive
expect 2 '^ENTER .*"MPI_Barrier"'

# Without "#!" it is one of /bin/sh, as for shells and for MPICH's launcher.
printf 'ls >/dev/null\n./app\n' >plain
chmod +x plain
trace 2 ./plain >out.txt 2>err.txt || fail "without #!: exit code $?: $(cat err.txt)"
one_report err.txt
printf '\177ELF\002' >broken
chmod +x broken
expect_failure 1 "broken: Exec format error" "$rubato" trace ./broken

other=mpich
[ "$flavour" = mpich ] && other=openmpi
command -v mpirun.$other >/dev/null || { pass; exit; }
"mpirun.$other" -n 2 "$rubato" trace -o other.otf2dir ./app >out.txt 2>err.txt && fail "not refused"
[ "$(grep -c 'rubato: error: this job was started by the mpirun of' err.txt)" = 1 ] ||
  fail "message: $(cat err.txt)"
"mpirun.$other" -n 1 "$rubato" trace -o other.otf2dir ./job.sh || fail "in a script: exit code $?"
check_readable "in a script: no trace" other.otf2dir
# Started by the loader, without a launcher: one flavour is not the guessed one, and its words stay.
loader=$(readelf -p .interp ./app | sed -n 's,.*] *\(/[^ ]*\)$,\1,p')
rm -rf other.otf2dir
"$rubato" trace -o other.otf2dir "$loader" ./app x "" y >out.txt 2>err.txt || fail "by $loader: $(cat err.txt)"
one_report err.txt
check_readable "by the loader: no trace" other.otf2dir
pass
