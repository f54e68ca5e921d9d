! Vector collectives of 4 ranks from Fortran; what each rank sends it writes to sent.RANK, as trace_parts.c.
program trace_parts
#if defined(F08)
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: rank, i, ierr, to(4), from(4), both(4), shared(4), displs(4), a(32), b(32)
#if defined(F08)
  type(MPI_Request) :: r
#else
  integer :: r
#endif
  character(6) :: name

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  write (name, '(A, I1)') 'sent.', rank
  open (10, file=name)
  a = rank
  b = 0
  do i = 0, 3
    to(i + 1) = modulo(rank + 2 * i + rank * i, 4)
    from(i + 1) = modulo(i + 2 * rank + rank * i, 4)
    both(i + 1) = modulo(rank + i, 3)
    displs(i + 1) = 4 * i
  end do
  shared = both
  shared(rank + 1) = 0
  call MPI_Alltoallv(a, to, displs, MPI_INTEGER, b, from, displs, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call say('MPI_Alltoallv', to)
  call MPI_Alltoallv(MPI_IN_PLACE, to, displs, MPI_INTEGER, b, both, displs, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call say('MPI_Alltoallv', shared)
  call MPI_Ialltoallv(a, to, displs, MPI_INTEGER, b, from, displs, MPI_INTEGER, MPI_COMM_WORLD, r, ierr)
  call say('MPI_Ialltoallv', to)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  call MPI_Scatterv(a, both, displs, MPI_INTEGER, b, modulo(2 + rank, 3), MPI_INTEGER, 2, MPI_COMM_WORLD, ierr)
  if (rank == 2) call say('MPI_Scatterv', both)
  close (10)
  call MPI_Finalize(ierr)

contains

  subroutine say(region, counts)
    character(*), intent(in) :: region
    integer, intent(in) :: counts(4)
    write (10, '(A, 4(1X, I0))') region, 4 * counts
  end subroutine
end program
