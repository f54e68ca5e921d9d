#pragma once

// Max-min fair rates of users that share links.
//
// A user has a route, a list of links with a weight each (1, or less if its traffic is split over
// several paths), and a limit of its own. Rates are max-min fair if no rate can be raised without
// lowering another one that is not larger (Bertsekas, Gallager: Data Networks, section 6.5). They
// are unique and characterised by this condition: each user
//
//   runs at its limit, or has a bottleneck: a full link on which no user has a higher rate.
//
// After a change only a part of the system is solved again. It starts with the links at which the
// condition is violated, and their users; a user whose bottleneck lies outside the part is limited
// to its present rate. A link outside joins the part if it is the bottleneck of some user and its
// load changes, or if it is overfull; then the part is solved again. When no link joins, the
// condition holds everywhere.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "models/network/block_pool.h"

namespace rubato {

class FairShare {
 public:
  /// A link of a route, which carries the share `weight` of the user's rate.
  struct Use {
    uint32_t link;
    double weight;
  };

  /// `capacities`: by link, above 0, in the unit of rates.
  explicit FairShare(std::vector<double> capacities);

  /// One more link; its number.
  uint32_t add_link(double capacity);

  /// A new user of `flows` flows, all with the user's rate. `limit`: of a flow, above 0. Links of
  /// `route` differ. The rate is valid after the next solve(). Numbers are reused.
  uint32_t add(std::span<const Use> route, double limit, int flows = 1);
  void change_flows(uint32_t user, int flows);
  void remove(uint32_t user);

  /// Finds the rates after such changes. The users whose rate changed, the new ones among them.
  std::span<const uint32_t> solve();

  /// Rate of each flow of a user.
  double rate(uint32_t user) const { return users_[user].rate; }
  /// True if links slow a user down.
  bool is_slowed(uint32_t user) const { return users_[user].bottleneck != kOwnLimit; }
  /// Load of a link by all its users; at most its capacity, within rounding.
  double load(uint32_t link) const { return links_[link].load; }
  double capacity(uint32_t link) const { return links_[link].capacity; }
  size_t links() const { return links_.size(); }
  /// The links of a user's route, with their weights, in its order.
  template <typename Visit>
  void for_each_use(uint32_t user, Visit visit) const {
    for (uint32_t i = 0; i < users_[user].length; ++i)
      visit(Use{part(users_[user], i).link, weight(users_[user], i)});
  }

  /// True if the condition above holds for all users, within rounding: for tests.
  bool is_fair() const;

 private:
  static constexpr uint32_t kOwnLimit = UINT32_MAX;
  static constexpr uint32_t kAlike = UINT32_MAX;

  struct Part {  ///< of a route
    uint32_t link;
    uint32_t place;  ///< in the link's users
  };
  /// Its size matters: there is up to one per flow under way.
  struct User {
    double limit = 0;
    double rate = 0;
    double weight = 1;          ///< of all parts
    uint32_t route = 0;         ///< in parts_
    uint32_t weights = kAlike;  ///< in weights_, where they differ
    uint32_t length = 0;        ///< of the route
    int flows = 0;              ///< 0: the number is free
    uint32_t bottleneck = kOwnLimit;
    bool is_new = false;
    // Of the present solve():
    bool fixed = false;
    uint32_t round = 0;
    uint32_t next_bottleneck = kOwnLimit;
    double next = 0;
  };
  struct Crossing {  ///< of a user and a link
    uint32_t user;
    uint32_t part;  ///< of the user's route
  };
  struct Link {
    double capacity = 0;
    double load = 0;
    std::vector<Crossing> users;
    int bottleneck_of = 0;  ///< users
    // Of the present solve():
    uint32_t round = 0;
    uint32_t change_round = 0;
    double change = 0;  ///< of the load, by users of the part, where the link is none
    double asked = 0;   ///< load if all its users ran at their limits
    double left = 0;    ///< capacity not taken by fixed users
    double weight = 0;  ///< of users that are not fixed
  };

  const Part& part(const User& user, uint32_t i) const { return parts_[user.route][i]; }
  double weight(const User& user, uint32_t i) const {
    return user.weights == kAlike ? user.weight : weights_[user.weights][i];
  }
  void begin_round();
  void include(uint32_t link);
  void include_users();
  void fill();
  void fix(uint32_t user, double rate, uint32_t bottleneck);
  /// True if a link joined.
  bool grow();
  void commit();
  static bool differs(double a, double b);

  std::vector<User> users_;
  std::vector<uint32_t> free_;
  BlockPool<Part> parts_;
  BlockPool<double> weights_;
  std::vector<Link> links_;
  std::vector<uint32_t> new_;       ///< users, since the last solve()
  std::vector<uint32_t> loosened_;  ///< links that lost a user, or with a changed number of flows
  std::vector<uint32_t> changed_;

  uint32_t round_ = 0;
  std::vector<uint32_t> part_links_, part_users_;
  size_t links_done_ = 0;                              ///< part_links_ whose users are in the part
  std::vector<uint32_t> touched_;                      ///< links outside with a change of load
  std::vector<std::pair<double, uint32_t>> by_limit_;  ///< users of the part
  std::vector<std::pair<double, uint32_t>> by_share_;  ///< links of the part, a heap
};

}  // namespace rubato
