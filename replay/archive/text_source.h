#pragma once

#include <memory>
#include <string>

#include "replay/trace/trace.h"

namespace rubato {

/// Calls written by hand, for tests, examples and bug reports. One call a line, in order per rank:
///
///     nodes 0 0 1                      node of each rank; all on one node without it
///     sockets 0 1 0                    socket of each, -1: on no one; not known without it
///     one_clock                        all ranks have one; without it each may have its own
///     comm 1 0 2                       communicator 1 has world ranks 0 and 2; 0 is the world
///     comm 2 0 1 | 2 3                 communicator 2 is between the groups 0 1 and 2 3; roots
///     count
///                                      over both, -2 is another one of the own group
///     neighbours 0 1 from 0 to 0 2     of rank 1 in communicator 0; world ranks
///     0: 0..10 init                    rank 0 is in MPI_Init from tick 0 (nanosecond) to tick 10
///     0: 50..60 send 1 8B tag 7        also ssend, bsend; tag and comm may be left out
///     1: 20..70 recv 0 8B tag 7
///     1: 20..70 recv 0 8B tag 7 any_source    that could have come from any rank; also any_tag
///     1: 10..20 probe 0 tag 7 any_source      a probe that found this; a receive of it follows
///     0: 70..72 isend 1 1KiB req 1     also issend
///     1: 70..71 irecv 0 1KiB req 1
///     0: 70..72 isend 1 1KiB req 1 partitioned    the start of a message in partitions; also irecv
///     0: 75..76 pready 1               a partition of the one with this request is ready; without
///                                      it nobody says of which
///     1: 80..90 wait 1                 requests that complete here, in order
///     1: 91..92 test not 2             also testany; a test whose records say that request 2 is
///     not complete 0: 91..92 wait cancelled 1       it was cancelled 0: 91..92 request_free
///     cancelled 1   it may have been, nobody knows 0: 80..99 sendrecv 1 8B 1 8B     to, bytes,
///     from, bytes 0: 99..120 barrier               collectives: NAME [root R] [sent] [received]
///     [comm C] 0: 120..130 bcast root 0 64B 64B 0: 130..135 ibarrier req 2       also nonblocking,
///     with i before the name, and comm_idup 0: 130..135 ibarrier req 2 persistent 1     a start of
///     the first persistent collective
///                                      that was initialised on its communicator
///     0: 130..135 alltoallv 8B 16B parts 0B 8B    sent, received, and what goes to each member;
///                                      also ialltoallv, and alltoallw
///     0: 130..131 alltoallv_init req 3 parts 0B 8B    a later "ialltoallv 8B 16B req 3" starts it
///     1: 130..135 neighbor_alltoall 16B 8B     bytes to all neighbours and from all; also
///                                      ineighbor_alltoall with a request, and the other kinds
///     1: 130..135 neighbor_alltoall_init 16B 8B req 3    only prepares it
///     1: 135..140 start 3              starts such a one
///     window 1 comm 0                  window 1 over communicator 0, as it is without "comm"
///     0: 130..131 put 1 8B win 1       also accumulate, get; fetch_and_op with bytes sent and
///                                      received
///     0: 131..132 rput 1 8B req 2      also rget; window 1 where there is no "win"
///     0: 132..135 win_fence            also win_create, win_free, win_lock_all, win_unlock_all,
///                                      win_flush_all, win_complete, win_wait
///     0: 135..137 win_lock 1           also win_unlock, win_flush, win_flush_local; behind
///                                      win_lock may stand "exclusive"
///     0: 137..138 win_post 1 2         also win_start
///     0: 130..135 local MPI_Comm_rank  any call without actions
///     0: 136..138 function             a function of the program, without calls in it; a name
///                                      may stand behind it
///     0: 140..150 off                  measurement switched off
///     0: 160..170 flush                the tracer wrote its buffer; "stolen" as below
///     0: 170..190 recv 1 8B flushed 5 lost 4 stolen 3    in the call it did so for 5 ticks, and
///                                      the thread had no core for 4; for 3 in the gap before
///     0: 200 end                       last record of the rank
///     0.1: 20..30 recv 1 8B            thread 1 of rank 0; a request may be waited for by another
///                                      thread than posted it, in a later line
///     0: 12 create 7                   the thread that has number 7 in its rank is created;
///     0.1: 15 begin 7                  thread 1 begins as it, and
///     0.1: 90 end 7                    ends;
///     0: 50..95 join 7                 pthread_join, which waits for that; a thread that did not
///                                      begin anywhere makes no calls
///
/// '#' starts a comment. Errors: InputError with `origin` and the line.
std::unique_ptr<EventSource> parse_text_trace(const std::string& text,
                                              const std::string& origin = "trace");

}  // namespace rubato
