#!/usr/bin/env bash
#BSUB -J rubato
#BSUB -n 32
#BSUB -R "span[ptile=16]"
#BSUB -W 00:30
# Traces a program under LSF, calibrates the nodes that the job has, and replays the one on the other.
#   bsub -env "all,APP=./app" <lsf.sh             Open MPI
#   bsub -env "all,APP=./app,MPI=mpich" <lsf.sh   MPICH, MVAPICH, Intel MPI
set -euo pipefail
module load rubato # share/examples/modules
out=rubato-$LSB_JOBID.otf2dir
nodes=$(sort -u "$LSB_DJOB_HOSTFILE" | wc -l)
ranks=$(wc -l <"$LSB_DJOB_HOSTFILE")

if [[ ${MPI:-openmpi} == mpich ]]; then
  mpiexec -f "$LSB_DJOB_HOSTFILE" -n "$ranks" rubato trace -o "$out" "$APP"
  mpiexec -f "$LSB_DJOB_HOSTFILE" -n $((2 * nodes)) -ppn 2 rubato calibrate --quick -o "cluster-$LSB_JOBID.toml"
else
  mpirun -n "$ranks" rubato trace -o "$out" "$APP"
  mpirun -n $((2 * nodes)) --map-by ppr:2:node rubato calibrate --quick -o "cluster-$LSB_JOBID.toml"
fi
rubato replay "$out" --on "cluster-$LSB_JOBID.toml" --html "report-$LSB_JOBID.html"
