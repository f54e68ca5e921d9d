// Max-min fair rates: worked out by hand, and as a property of random changes.

#include "models/network/fair_share.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "tests/unit/seeds.h"

using namespace rubato;
using Use = FairShare::Use;

// Links of 1 and 2. x takes the first, y both, z the second: the first is divided evenly, and z
// gets what y leaves of the second: 2 - 1/2. Without x, y is alone on the first and still has half
// of the second.
TEST_CASE("fair shares of two links with one user of both") {
  FairShare shares({1, 2});
  const uint32_t x = shares.add(std::vector<Use>{{0, 1}}, 10);
  const uint32_t y = shares.add(std::vector<Use>{{0, 1}, {1, 1}}, 10);
  const uint32_t z = shares.add(std::vector<Use>{{1, 1}}, 10);
  CHECK(shares.solve().size() == 3);
  CHECK(shares.rate(x) == Approx(0.5));
  CHECK(shares.rate(y) == Approx(0.5));
  CHECK(shares.rate(z) == Approx(1.5));
  CHECK(shares.load(1) == Approx(2));
  shares.remove(x);
  CHECK(shares.solve().size() == 2);
  CHECK(shares.rate(y) == Approx(1));
  CHECK(shares.rate(z) == Approx(1));
}

// Three flows of a user, and a user that may have 1/10: (1 - 1/10) / 3. A user that sends half of
// its traffic over the link counts half: 0.9 / (3 + 1/2).
TEST_CASE("users of several flows, with limits, and with parts of their traffic") {
  FairShare shares({1});
  const uint32_t three = shares.add(std::vector<Use>{{0, 1}}, 10, 3);
  const uint32_t slow = shares.add(std::vector<Use>{{0, 1}}, 0.1);
  shares.solve();
  CHECK(shares.rate(three) == Approx(0.3));
  CHECK(shares.rate(slow) == 0.1);
  CHECK(shares.is_slowed(three));
  CHECK_FALSE(shares.is_slowed(slow));
  const uint32_t half = shares.add(std::vector<Use>{{0, 0.5}}, 10);
  shares.solve();
  CHECK(shares.rate(half) == Approx(0.9 / 3.5));
  CHECK(shares.rate(three) == Approx(0.9 / 3.5));
  shares.change_flows(three, 1);
  shares.solve();
  CHECK(shares.rate(three) == Approx(0.9 / 1.5));
}

// Whichever users come and go, the rates are fair and equal those of a new solution for all users
// (they are unique). Only changes are reported.
TEST_CASE("rates after random changes are fair, and those of a solution from scratch") {
  for (unsigned seed = 0; seed < seeds(60); ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    std::vector<double> capacities(3 + below(20));
    for (double& capacity : capacities) capacity = 1 + below(8);
    FairShare shares(capacities);
    struct User {
      std::vector<Use> route;
      double limit;
      int flows;
      double rate = 0;
    };
    std::map<uint32_t, User> users;
    for (int step = 0; step < 150; ++step) {
      for (unsigned change = 0; change <= below(3); ++change) {
        if (users.empty() || below(3) > 0) {
          User user{{}, below(2) ? 100.0 : 0.25 * (1 + below(8)), 1 + static_cast<int>(below(3))};
          for (uint32_t link = 0; link < capacities.size(); ++link)
            if (below(static_cast<unsigned>(capacities.size())) < 3)
              user.route.push_back({link, below(4) ? 1.0 : 0.5});
          const uint32_t number = shares.add(user.route, user.limit, user.flows);
          REQUIRE(users.emplace(number, user).second);
        } else {
          const auto user = std::next(users.begin(), below(static_cast<unsigned>(users.size())));
          if (below(2)) {
            user->second.flows = 1 + static_cast<int>(below(4));
            shares.change_flows(user->first, user->second.flows);
          } else {
            shares.remove(user->first);
            users.erase(user);
          }
        }
      }
      const auto changed = shares.solve();
      for (const uint32_t number : changed) users.at(number).rate = shares.rate(number);
      REQUIRE(shares.is_fair());
      FairShare anew(capacities);
      std::vector<uint32_t> numbers;
      for (const auto& [number, user] : users)
        numbers.push_back(anew.add(user.route, user.limit, user.flows));
      anew.solve();
      size_t at = 0;
      for (const auto& [number, user] : users) {
        REQUIRE(shares.rate(number) == user.rate);
        REQUIRE(shares.rate(number) == Approx(anew.rate(numbers[at++])).epsilon(1e-9));
      }
    }
  }
}
