#include "replay/trace/member_list.h"

#include <catch2/catch.hpp>

#include "models/base/error.h"
#include "replay/sources/text_source.h"
#include "replay/trace/trace.h"

using namespace rubato;

TEST_CASE("local ranks of members are found in any order") {
  const MemberList sorted({2, 5, 9}), mixed({9, 2, 5}), none;
  CHECK(sorted.local_rank(5) == 1);
  CHECK(mixed.local_rank(9) == 0);
  CHECK(mixed.local_rank(5) == 2);
  for (const int absent : {-1, 0, 3, 10}) {
    CHECK(sorted.local_rank(absent) == -1);
    CHECK(mixed.local_rank(absent) == -1);
    CHECK(none.local_rank(absent) == -1);
  }
  CHECK(none.empty());
}

TEST_CASE("equal lists of members share their memory, and so do copies of communicators") {
  MemberLists lists;
  const MemberList first = lists.share({3, 1, 2});
  CHECK(lists.share({3, 1, 2}).ranks().data() == first.ranks().data());
  CHECK(lists.share({1, 2, 3}).ranks().data() != first.ranks().data());
  CHECK(lists.share({}).empty());
  Communicator comm;
  comm.members = first;
  const Communicator window = comm;
  CHECK(window.members.ranks().data() == comm.members.ranks().data());
  CHECK(window.local_rank(2) == 2);
}

TEST_CASE("more neighbours than a communicator can have in earnest are refused") {
  // Of 2 members: 64 * 2 + 1024 = 1152 are the most.
  const auto text = [](int neighbours) {
    std::string line = "neighbours 0 0 from 1 to";
    for (int i = 0; i < neighbours; ++i) line += " 1";
    return line + "\n0: 0..5 neighbor_alltoall 8B 8B\n1: 0..5 neighbor_alltoall 8B 8B\n";
  };
  CHECK_NOTHROW(parse_text_trace(text(1152)));
  CHECK_THROWS_WITH(parse_text_trace(text(1153)),
                    "trace:1: more neighbours than a communicator of "
                    "2 members can have");
}
