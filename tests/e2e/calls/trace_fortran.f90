! What trace_fortran.sh traces, for two ranks; trace_fortran.c does the same in C. With -DMPIFH it includes
! mpif.h, with -DUSEMPI it uses mpi, with -DF08 mpi_f08.
program trace_fortran
#if defined(F08)
  use mpi_f08
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define TYPE type(MPI_Datatype)
#define GROUP type(MPI_Group)
#define INFO type(MPI_Info)
#define STATUS(name) type(MPI_Status) :: name
#define STATUSES(name, n) type(MPI_Status) :: name(n)
#define SOURCE(status) status%MPI_SOURCE
#define SOURCE_OF(i, statuses) statuses(i)%MPI_SOURCE
#else
#if defined(USEMPI)
  use mpi
#endif
#define COMM integer
#define REQUEST integer
#define TYPE integer
#define GROUP integer
#define INFO integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define SOURCE(status) status(MPI_SOURCE)
#define SOURCE_OF(i, statuses) statuses(MPI_SOURCE, i)
#endif
  implicit none
#if defined(MPIFH)
  include 'mpif.h'
#endif
  integer :: rank, n, peer, i, ierr, found, done, length, provided, sum, indices(3), neighbours(2), position
  integer :: x(4), y(4), z(8), counts(2), displs(2)
  logical :: flag
  COMM :: half, copy, again, grid, line
  REQUEST :: r(3)
  TYPE :: pairs, types(2)
  GROUP :: everyone
  INFO :: hints
  STATUS(s)
  STATUSES(many, 3)
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=MPI_MAX_PROCESSOR_NAME) :: processor
  character(len=MPI_MAX_ERROR_STRING) :: message
  character(len=20) :: text

  call MPI_Init_thread(MPI_THREAD_SINGLE, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  peer = 1 - rank
  x = [1, 2, 3, 4] + 10 * rank
  y = 0

  ! Blocking
  if (rank == 0) then
    call MPI_Send(x, 4, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, ierr)
    call MPI_Recv(y, 4, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, s, ierr)
    print *, 'blocking', y, SOURCE(s)
  else
    call MPI_Recv(y, 4, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Ssend(x, 2, MPI_INTEGER, 0, 6, MPI_COMM_WORLD, ierr)
  end if
  call MPI_Sendrecv(x, 3, MPI_INTEGER, peer, 7, y, 4, MPI_INTEGER, peer, 7, MPI_COMM_WORLD, s, ierr)
  call MPI_Get_count(s, MPI_INTEGER, length, ierr)
  call MPI_Sendrecv_replace(y, 4, MPI_INTEGER, peer, 8, peer, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Send(x, 1, MPI_INTEGER, MPI_PROC_NULL, 8, MPI_COMM_WORLD, ierr)
  if (rank == 0) print *, 'sendrecv', y, length

  ! Every form of completion
  call post(9)
  call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, ierr)
  call post(10)
  call MPI_Waitall(2, r, many, ierr)
  if (rank == 0) print *, 'waitall', y, SOURCE_OF(1, many)
  call post(11)
  sum = 0
  do i = 1, 2
    call MPI_Waitany(3, r, found, s, ierr)
    sum = sum + found
  end do
  call MPI_Waitany(3, r, found, MPI_STATUS_IGNORE, ierr)
  if (rank == 0) print *, 'waitany', sum, found == MPI_UNDEFINED
  call post(12)
  done = 0
  sum = 0
  do while (done < 2)
    call MPI_Waitsome(3, r, found, indices, MPI_STATUSES_IGNORE, ierr)
    do i = 1, found
      sum = sum + indices(i)
    end do
    done = done + found
  end do
  if (rank == 0) print *, 'waitsome', sum
  call post(13)
  done = 0
  do while (done < 2)
    call MPI_Testsome(3, r, found, indices, many, ierr)
    done = done + found
  end do
  call MPI_Testsome(3, r, found, indices, many, ierr)
  if (rank == 0) print *, 'testsome', found == MPI_UNDEFINED
  call post(14)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(r(1), flag, MPI_STATUS_IGNORE, ierr)
  end do
  flag = .false.
  do while (.not. flag)
    call MPI_Testany(2, r, found, flag, s, ierr)
  end do
  if (rank == 0) print *, 'testany', found
  call post(15)
  flag = .false.
  do while (.not. flag)
    call MPI_Testall(2, r, flag, MPI_STATUSES_IGNORE, ierr)
  end do
  call post(16)
  call MPI_Wait(r(2), MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(r(1), s, ierr)
  if (rank == 0) print *, 'wait', SOURCE(s)

  ! Persistent, two rounds, and a receive without a sender
  call MPI_Recv_init(y, 4, MPI_INTEGER, peer, 17, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Ssend_init(x, 4, MPI_INTEGER, peer, 17, MPI_COMM_WORLD, r(2), ierr)
  do i = 1, 2
    call MPI_Startall(2, r, ierr)
    call MPI_Waitall(2, r, many, ierr)
  end do
  call MPI_Start(r(1), ierr)
  call MPI_Start(r(2), ierr)
  call MPI_Waitall(2, r, many, ierr)
  call MPI_Request_free(r(1), ierr)
  call MPI_Request_free(r(2), ierr)
  call MPI_Irecv(y, 4, MPI_INTEGER, peer, 18, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Cancel(r(1), ierr)
  call MPI_Wait(r(1), s, ierr)
  call MPI_Test_cancelled(s, flag, ierr)
  if (rank == 0) print *, 'cancelled', flag

  ! Collectives
  counts = [1, 2]
  displs = [0, 1]
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Bcast(x, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Allreduce(MPI_IN_PLACE, x, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Allreduce(x, y, 4, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
  if (rank == 0) then
    call MPI_Reduce(MPI_IN_PLACE, x, 4, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, z, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  else
    call MPI_Reduce(x, y, 4, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    call MPI_Gather(x, 4, MPI_INTEGER, z, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  end if
  call MPI_Scatterv(z, counts, displs, MPI_INTEGER, y, counts(rank + 1), MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Allgatherv(x, counts(rank + 1), MPI_INTEGER, z, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  counts = [1, 1]
  call MPI_Type_contiguous(2, MPI_INTEGER, pairs, ierr)
  call MPI_Type_commit(pairs, ierr)
  types = pairs
  displs = [0, 8]
  call MPI_Alltoallw(x, counts, displs, types, z, counts, displs, types, MPI_COMM_WORLD, ierr)
  call MPI_Alltoallw(MPI_IN_PLACE, counts, displs, types, z, counts, displs, types, MPI_COMM_WORLD, ierr)
  call MPI_Type_free(pairs, ierr)
  call MPI_Scan(x, y, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Ibarrier(MPI_COMM_WORLD, r(1), ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  if (rank == 0) print *, 'collectives', x, z(1:4)

  ! Communicators
  call MPI_Comm_split(MPI_COMM_WORLD, rank, 0, half, ierr)
  call MPI_Comm_set_name(half, 'half of it', ierr)
  call MPI_Comm_get_name(half, name, length, ierr)
  if (rank == 0) print *, 'name "', name(1:length), '"', length
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
  call MPI_Barrier(copy, ierr)
  call MPI_Comm_idup(copy, again, r(1), ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call MPI_Barrier(again, ierr)
  call MPI_Comm_free(again, ierr)
  call MPI_Cart_create(copy, 2, [2, 1], [.true., .false.], .false., grid, ierr)
  call MPI_Cart_shift(grid, 0, 1, neighbours(1), neighbours(2), ierr)
  call MPI_Cart_sub(grid, [.true., .false.], line, ierr)
  call MPI_Send(x, 1, MPI_INTEGER, MPI_PROC_NULL, 1, line, ierr)
  call MPI_Bcast(x, 1, MPI_INTEGER, 0, line, ierr)
  call MPI_Comm_group(copy, everyone, ierr)
  call MPI_Group_rank(everyone, position, ierr)
  call MPI_Group_free(everyone, ierr)
  call MPI_Comm_free(line, ierr)
  call MPI_Comm_free(grid, ierr)
  call MPI_Comm_free(copy, ierr)
  if (rank == 0) print *, 'grid', neighbours, position

  ! Strings
  call MPI_Get_processor_name(processor, length, ierr)
  if (rank == 0) print *, 'processor', length == len_trim(processor)
  call MPI_Error_string(MPI_SUCCESS, message, length, ierr)
  if (rank == 0) print *, 'error "', message(1:length), '"', length
  call MPI_Info_create(hints, ierr)
  call MPI_Info_set(hints, 'a key ', 'a value', ierr)
  text = repeat('?', 20)
  call MPI_Info_get(hints, 'a key', 19, text, flag, ierr)
  if (rank == 0) print *, 'info "', text, '"', flag
  call MPI_Info_free(hints, ierr)

#ifdef F08
  call MPI_Barrier(MPI_COMM_WORLD)   ! without ierror
#else
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
#endif
  call MPI_Finalize(ierr)
  if (rank == 0) print *, 'end', ierr

contains

  subroutine post(tag)
    integer, intent(in) :: tag
    call MPI_Irecv(y, 4, MPI_INTEGER, peer, tag, MPI_COMM_WORLD, r(1), ierr)
    call MPI_Isend(x, 4, MPI_INTEGER, peer, tag, MPI_COMM_WORLD, r(2), ierr)
    r(3) = MPI_REQUEST_NULL
  end subroutine
end program
