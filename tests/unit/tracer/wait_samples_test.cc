#include "tracer/report/wait_samples.h"

#include <catch2/catch.hpp>

using namespace rubato;

namespace {

Sample sample(uint64_t key, SampleRole role, uint64_t enter, uint64_t leave, uint64_t posted = 0,
              uint32_t call = 0, uint64_t stolen = 0) {
  return {key, 1, enter, leave, posted, stolen, call, role};
}

}  // namespace

TEST_CASE("a receive waits for its send, at most until its end") {
  // The call of rank 1 lasts from 10 to 50; the send begins at 30: 20. The second one begins
  // before the receive: 0.
  std::vector<RankSamples> ranks(2);
  ranks[0].samples = {sample(1, SampleRole::kSend, 30, 40), sample(2, SampleRole::kSend, 60, 61)};
  ranks[1].samples = {sample(1, SampleRole::kReceive, 10, 50, 10),
                      sample(2, SampleRole::kReceive, 70, 75, 70)};
  const auto found = find_waits(ranks);
  CHECK(found[1][0].late_sender == 20);
  CHECK(found[1][0].observed == 45);
  CHECK(found[0][0].late_receiver == 0);
}

TEST_CASE("a probe, and polls before it, wait for the send") {
  // Three polls of 2 each between 10 and 30, a probe that finds the message from 40 to 50, and the
  // receive from 60 to 70. The send begins at 45: all 6 of the polls, and 5 of the probe. Another
  // message is sent at 120, in the middle of such polls: half of them.
  std::vector<RankSamples> ranks(2);
  ranks[0].samples = {sample(1, SampleRole::kSend, 45, 46), sample(2, SampleRole::kSend, 120, 121)};
  ranks[1].samples = {sample(1, SampleRole::kProbe, 10, 30, 16, 0),
                      sample(1, SampleRole::kProbe, 40, 50, 50, 1),
                      sample(1, SampleRole::kReceive, 60, 70, 60, 2),
                      sample(2, SampleRole::kProbe, 110, 130, 116, 3),
                      sample(2, SampleRole::kReceive, 140, 150, 140, 2)};
  const auto found = find_waits(ranks);
  CHECK(found[1][0].late_sender == 6);
  CHECK(found[1][1].late_sender == 5);
  CHECK(found[1][2].late_sender == 0);
  CHECK(found[1][3].late_sender == 3);
  CHECK(found[1][0].observed == 6);
}

TEST_CASE("a send waits for its receive if it ends after that was posted") {
  // Send 10 to 50, the receive is posted at 40: 30. The second send is over before: it did not
  // wait.
  std::vector<RankSamples> ranks(2);
  ranks[0].samples = {sample(1, SampleRole::kSend, 10, 50), sample(2, SampleRole::kSend, 60, 62)};
  ranks[1].samples = {sample(1, SampleRole::kReceive, 40, 51, 40),
                      sample(2, SampleRole::kReceive, 90, 91, 90)};
  const auto found = find_waits(ranks);
  CHECK(found[0][0].late_receiver == 30);
  CHECK(found[1][0].late_sender == 0);
}

TEST_CASE("a call that completes several messages waits for the last of them") {
  // From 0 to 100, half of it without a core: sends at 20 and 60 make 60, of which half counts.
  std::vector<RankSamples> ranks(3);
  ranks[0].samples = {sample(1, SampleRole::kReceive, 0, 100, 0, 3, 50),
                      sample(2, SampleRole::kReceive, 0, 100, 0, 3, 50)};
  ranks[1].samples = {sample(1, SampleRole::kSend, 20, 21)};
  ranks[2].samples = {sample(2, SampleRole::kSend, 60, 61)};
  const auto found = find_waits(ranks);
  CHECK(found[0][3].late_sender == 30);
  CHECK(found[0][3].observed == 50);
}

TEST_CASE("members of a collective wait for the last, for the root, at the root, for lower ranks") {
  const auto waits = [](std::vector<SampleRole> roles, std::vector<uint64_t> enters) {
    std::vector<RankSamples> ranks(roles.size());
    for (size_t i = 0; i < roles.size(); ++i)
      ranks[i].samples = {sample(5, roles[i], enters[i], 100, i)};
    std::vector<double> seconds;
    for (const auto& rank : find_waits(ranks)) seconds.push_back(rank[0].collective);
    return seconds;
  };
  using Role = SampleRole;
  CHECK(waits({Role::kMember, Role::kMember, Role::kMember}, {10, 40, 20}) ==
        std::vector<double>{30, 0, 20});
  CHECK(waits({Role::kRoot, Role::kNotRoot, Role::kNotRoot}, {30, 40, 20}) ==
        std::vector<double>{0, 0, 10});
  CHECK(waits({Role::kRootAtLast, Role::kContributor, Role::kContributor}, {30, 40, 20}) ==
        std::vector<double>{10, 0, 0});
  CHECK(waits({Role::kPrefix, Role::kPrefix, Role::kPrefix}, {30, 40, 20}) ==
        std::vector<double>{0, 0, 20});
}

TEST_CASE("both sides of a channel choose the same messages at every stride") {
  WaitSamples sends, receives;
  const auto number = [](WaitSamples& samples, uint64_t counter, SampleRole role, uint64_t i) {
    const uint64_t key = samples.next_key(77, counter);
    if (samples.wants(key)) samples.add({key, counter, 2 * i, 2 * i + 1, 0, 0, 0, role});
  };
  for (uint64_t i = 0; i < 100000; ++i) number(sends, 1, SampleRole::kSend, i);
  for (uint64_t i = 0; i < 100000; ++i) number(receives, 2, SampleRole::kReceive, i);
  // 100,000 / 8 is the first to fit into 16,384.
  CHECK(sends.stride() == 8);
  CHECK(receives.stride() == 8);
  const uint64_t stride = sends.stride_for(1, 1000);
  CHECK(stride == 128);
  const auto a = sends.take(stride), b = receives.take(stride);
  REQUIRE(a.size() == b.size());
  CHECK(a.size() > 600);
  for (size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].key == b[i].key);
    CHECK(a[i].enter == b[i].enter);
  }
  receives.spoil(2);
  CHECK(receives.take(stride).empty());
  CHECK(receives.next_key(77, 2) == 0);
}
