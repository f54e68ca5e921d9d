#pragma once

// Max-min fair rates: who shares links with whom, and how fast each may go.
//
// A user has a route, links of which it takes a weight each (1, or less where its traffic is split
// over several paths), and a limit of its own. Rates are max-min fair if nobody can go faster
// without slowing somebody down who is no faster (Bertsekas, Gallager: Data Networks, section 6.5).
// They are unique, and easy to recognise. Each user
//
//   goes at its limit, or has a bottleneck: a link that is full, on which nobody is faster.
//
// After a change only a part is solved again. It begins with the links where that condition broke,
// and takes their users along, each limited by what it had if its bottleneck lies outside. Where
// that changes the load of a link outside that is somebody's bottleneck, or overfills one, the link
// joins and the part is solved again. When none joins, the condition holds everywhere.

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
  /// A link of a route: of a user's rate, `weight` goes over it.
  struct Use {
    uint32_t link;
    double weight;
  };

  /// `capacities`: by link, above 0, in the unit of rates.
  explicit FairShare(std::vector<double> capacities);

  /// One more link; its number.
  uint32_t add_link(double capacity);

  /// A new user of `flows` flows, which all go at its rate. `limit`: of a flow, above 0. Links of
  /// `route` differ. Its rate counts from the next solve() on. Numbers are used again.
  uint32_t add(std::span<const Use> route, double limit, int flows = 1);
  void change_flows(uint32_t user, int flows);
  void remove(uint32_t user);

  /// Finds the rates after such changes. The users whose rate changed, the new ones among them.
  std::span<const uint32_t> solve();

  /// Of each flow.
  double rate(uint32_t user) const { return users_[user].rate; }
  /// True where links slow a user down.
  bool is_slowed(uint32_t user) const { return users_[user].bottleneck != kOwnLimit; }
  /// Of a link, by all its users; at most its capacity, but for rounding.
  double load(uint32_t link) const { return links_[link].load; }
  double capacity(uint32_t link) const { return links_[link].capacity; }
  size_t links() const { return links_.size(); }
  /// The links of a user's route, with their weights, in its order.
  template <typename Visit>
  void for_each_use(uint32_t user, Visit visit) const {
    for (uint32_t i = 0; i < users_[user].length; ++i)
      visit(Use{part(users_[user], i).link, weight(users_[user], i)});
  }

  /// True where the condition above holds, short of rounding: for tests, of all users.
  bool is_fair() const;

 private:
  static constexpr uint32_t kOwnLimit = UINT32_MAX;
  static constexpr uint32_t kAlike = UINT32_MAX;

  struct Part {  ///< of a route
    uint32_t link;
    uint32_t place;  ///< in the link's users
  };
  /// There is one for each flow under way, so its size counts.
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
    double asked = 0;   ///< load if all its users went at their limits
    double left = 0;    ///< capacity that no fixed user takes
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
  std::vector<uint32_t> loosened_;  ///< links with a user less, or with another number of flows
  std::vector<uint32_t> changed_;

  uint32_t round_ = 0;
  std::vector<uint32_t> part_links_, part_users_;
  size_t links_done_ = 0;                              ///< part_links_ whose users are in the part
  std::vector<uint32_t> touched_;                      ///< links outside with a change of load
  std::vector<std::pair<double, uint32_t>> by_limit_;  ///< users of the part
  std::vector<std::pair<double, uint32_t>> by_share_;  ///< links of the part, a heap
};

}  // namespace rubato
