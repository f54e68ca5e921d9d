# What benchmarks of one path share. Source it: `. path.sh FLAVOUR shm|tcp`. Sets launch, the words that
# start two ranks on this machine, each on a core of its own, talking over shared memory or TCP.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
if [[ $1 == openmpi ]]; then
  launch=(mpirun.openmpi -n 2 --oversubscribe --bind-to core)
  [[ $2 == tcp ]] && launch+=(--mca btl "tcp,self" --mca pml ob1)
else
  launch=(mpirun.mpich -n 2 -bind-to core)
  [[ $2 == tcp ]] && launch+=(-genv MPIR_CVAR_NOLOCAL 1 -genv UCX_TLS tcp)
fi
true
