/* The twin of trace_fortran.f90: the same calls in the same order. */
#include <mpi.h>
#include <stdio.h>

int rank, peer, x[4], y[4], z[8];
MPI_Request r[3];

void post(int tag) {
  MPI_Irecv(y, 4, MPI_INT, peer, tag, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(x, 4, MPI_INT, peer, tag, MPI_COMM_WORLD, &r[1]);
  r[2] = MPI_REQUEST_NULL;
}

int main(int argc, char** argv) {
  int n, found, done, flag, length, provided, position, indices[3], neighbours[2];
  int counts[2] = {1, 2}, displs[2] = {0, 1}, dims[2] = {2, 1}, periods[2] = {1, 0};
  char text[MPI_MAX_PROCESSOR_NAME + MPI_MAX_OBJECT_NAME + MPI_MAX_ERROR_STRING];
  MPI_Comm half, copy, again, grid, line;
  MPI_Datatype pairs, types[2];
  MPI_Group everyone;
  MPI_Info hints;
  MPI_Status s, many[3];

  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  peer = 1 - rank;

  if (rank == 0) {
    MPI_Send(x, 4, MPI_INT, 1, 5, MPI_COMM_WORLD);
    MPI_Recv(y, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
  } else {
    MPI_Recv(y, 4, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Ssend(x, 2, MPI_INT, 0, 6, MPI_COMM_WORLD);
  }
  MPI_Sendrecv(x, 3, MPI_INT, peer, 7, y, 4, MPI_INT, peer, 7, MPI_COMM_WORLD, &s);
  MPI_Get_count(&s, MPI_INT, &length);
  MPI_Sendrecv_replace(y, 4, MPI_INT, peer, 8, peer, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(x, 1, MPI_INT, MPI_PROC_NULL, 8, MPI_COMM_WORLD);

  post(9);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  post(10);
  MPI_Waitall(2, r, many);
  post(11);
  MPI_Waitany(3, r, &found, &s);
  MPI_Waitany(3, r, &found, &s);
  MPI_Waitany(3, r, &found, MPI_STATUS_IGNORE);
  post(12);
  for (done = 0; done < 2; done += found) MPI_Waitsome(3, r, &found, indices, MPI_STATUSES_IGNORE);
  post(13);
  for (done = 0; done < 2; done += found) MPI_Testsome(3, r, &found, indices, many);
  MPI_Testsome(3, r, &found, indices, many);
  post(14);
  for (flag = 0; !flag;) MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
  for (flag = 0; !flag;) MPI_Testany(2, r, &found, &flag, &s);
  post(15);
  for (flag = 0; !flag;) MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
  post(16);
  MPI_Wait(&r[1], MPI_STATUS_IGNORE);
  MPI_Wait(&r[0], &s);

  MPI_Recv_init(y, 4, MPI_INT, peer, 17, MPI_COMM_WORLD, &r[0]);
  MPI_Ssend_init(x, 4, MPI_INT, peer, 17, MPI_COMM_WORLD, &r[1]);
  for (int i = 0; i < 2; ++i) {
    MPI_Startall(2, r);
    MPI_Waitall(2, r, many);
  }
  MPI_Start(&r[0]);
  MPI_Start(&r[1]);
  MPI_Waitall(2, r, many);
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
  MPI_Irecv(y, 4, MPI_INT, peer, 18, MPI_COMM_WORLD, &r[0]);
  MPI_Cancel(&r[0]);
  MPI_Wait(&r[0], &s);
  MPI_Test_cancelled(&s, &flag);

  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(x, 4, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, x, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(x, y, 4, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Reduce(MPI_IN_PLACE, x, 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, z, 4, MPI_INT, 0, MPI_COMM_WORLD);
  } else {
    MPI_Reduce(x, y, 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Gather(x, 4, MPI_INT, z, 4, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Scatterv(z, counts, displs, MPI_INT, y, counts[rank], MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allgatherv(x, counts[rank], MPI_INT, z, counts, displs, MPI_INT, MPI_COMM_WORLD);
  counts[1] = 1;
  MPI_Type_contiguous(2, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);
  types[0] = types[1] = pairs;
  displs[1] = 8;
  MPI_Alltoallw(x, counts, displs, types, z, counts, displs, types, MPI_COMM_WORLD);
  MPI_Alltoallw(MPI_IN_PLACE, counts, displs, types, z, counts, displs, types, MPI_COMM_WORLD);
  MPI_Type_free(&pairs);
  MPI_Scan(x, y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Ibarrier(MPI_COMM_WORLD, &r[0]);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);

  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &half);
  MPI_Comm_set_name(half, "half of it");
  MPI_Comm_get_name(half, text, &length);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Barrier(copy);
  MPI_Comm_idup(copy, &again, &r[0]);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  MPI_Barrier(again);
  MPI_Comm_free(&again);
  MPI_Cart_create(copy, 2, dims, periods, 0, &grid);
  MPI_Cart_shift(grid, 0, 1, &neighbours[0], &neighbours[1]);
  MPI_Cart_sub(grid, periods, &line);
  MPI_Send(x, 1, MPI_INT, MPI_PROC_NULL, 1, line);
  MPI_Bcast(x, 1, MPI_INT, 0, line);
  MPI_Comm_group(copy, &everyone);
  MPI_Group_rank(everyone, &position);
  MPI_Group_free(&everyone);
  MPI_Comm_free(&line);
  MPI_Comm_free(&grid);
  MPI_Comm_free(&copy);

  MPI_Get_processor_name(text, &length);
  MPI_Error_string(MPI_SUCCESS, text, &length);
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "a key", "a value");
  MPI_Info_get(hints, "a key", 19, text, &flag);
  MPI_Info_free(&hints);

  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
