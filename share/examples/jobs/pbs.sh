#!/usr/bin/env bash
#PBS -N rubato
#PBS -l select=2:ncpus=16:mpiprocs=16
#PBS -l walltime=00:30:00
# Traces a program under PBS, calibrates the nodes that the job has, and replays the one on the other.
#   qsub -v APP=./app pbs.sh             Open MPI
#   qsub -v APP=./app,MPI=mpich pbs.sh   MPICH, MVAPICH, Intel MPI
set -euo pipefail
cd "$PBS_O_WORKDIR"
module load rubato # share/examples/modules
job=${PBS_JOBID%%.*}
out=rubato-$job.otf2dir
nodes=$(sort -u "$PBS_NODEFILE" | wc -l)
ranks=$(wc -l <"$PBS_NODEFILE")

if [[ ${MPI:-openmpi} == mpich ]]; then
  mpiexec -f "$PBS_NODEFILE" -n "$ranks" rubato trace -o "$out" "$APP"
  mpiexec -f "$PBS_NODEFILE" -n $((2 * nodes)) -ppn 2 rubato calibrate --quick -o "cluster-$job.toml"
else
  mpirun -n "$ranks" rubato trace -o "$out" "$APP"
  mpirun -n $((2 * nodes)) --map-by ppr:2:node rubato calibrate --quick -o "cluster-$job.toml"
fi
rubato replay "$out" --on "cluster-$job.toml" --html "report-$job.html"
