#include "models/network/fair_share.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>

namespace rubato {
namespace {

/// A smaller relative difference of rates or loads is rounding.
constexpr double kLoadRounding = 1e-12;

}  // namespace

bool FairShare::differs(double a, double b) {
  return std::abs(a - b) > kLoadRounding * std::max(std::abs(a), std::abs(b));
}

FairShare::FairShare(std::vector<double> capacities) : links_(capacities.size()) {
  for (size_t i = 0; i < links_.size(); ++i) links_[i].capacity = capacities[i];
}

uint32_t FairShare::add_link(double capacity) {
  links_.emplace_back().capacity = capacity;
  return static_cast<uint32_t>(links_.size() - 1);
}

uint32_t FairShare::add(std::span<const Use> route, double limit, int flows) {
  uint32_t number = 0;
  if (free_.empty()) {
    number = static_cast<uint32_t>(users_.size());
    users_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  User& user = users_[number];
  user.limit = limit;
  user.rate = 0;
  user.flows = flows;
  user.bottleneck = kOwnLimit;
  user.is_new = true;
  user.length = static_cast<uint32_t>(route.size());
  user.route = parts_.take(route.size());
  user.weight = route.empty() ? 1 : route[0].weight;
  const auto is_other = [&](const Use& use) { return use.weight != user.weight; };
  user.weights =
      std::any_of(route.begin(), route.end(), is_other) ? weights_.take(route.size()) : kAlike;
  for (uint32_t i = 0; i < user.length; ++i) {
    Link& link = links_[route[i].link];
    parts_[user.route][i] = {route[i].link, static_cast<uint32_t>(link.users.size())};
    if (user.weights != kAlike) weights_[user.weights][i] = route[i].weight;
    link.users.push_back({number, i});
  }
  new_.push_back(number);
  return number;
}

void FairShare::change_flows(uint32_t number, int flows) {
  User& user = users_[number];
  for (uint32_t i = 0; i < user.length; ++i) {
    const uint32_t at = part(user, i).link;
    Link& link = links_[at];
    link.load += weight(user, i) * user.rate * (flows - user.flows);
    // (More flows may overfill a link that was no user's bottleneck.)
    if (link.bottleneck_of > 0 || flows > user.flows) loosened_.push_back(at);
  }
  user.flows = flows;
}

void FairShare::remove(uint32_t number) {
  User& user = users_[number];
  if (user.bottleneck != kOwnLimit) --links_[user.bottleneck].bottleneck_of;
  for (uint32_t i = 0; i < user.length; ++i) {
    const auto [at, place] = part(user, i);
    Link& link = links_[at];
    link.load = std::max(0.0, link.load - weight(user, i) * user.rate * user.flows);
    const Crossing last = link.users.back();
    link.users[place] = last;
    parts_[users_[last.user].route][last.part].place = place;
    link.users.pop_back();
    if (link.users.empty()) link.load = 0;
    if (link.bottleneck_of > 0) loosened_.push_back(at);
  }
  if (user.is_new) std::erase(new_, number);
  parts_.give_back(user.route, user.length);
  if (user.weights != kAlike) weights_.give_back(user.weights, user.length);
  user.length = 0;
  user.flows = 0;
  user.rate = 0;
  user.bottleneck = kOwnLimit;
  user.is_new = false;
  free_.push_back(number);
}

std::span<const uint32_t> FairShare::solve() {
  changed_.clear();
  if (new_.empty() && loosened_.empty()) return changed_;
  begin_round();
  part_links_.clear();
  part_users_.clear();
  links_done_ = 0;
  for (const uint32_t number : new_) {
    User& user = users_[number];
    user.round = round_;
    part_users_.push_back(number);
  }
  for (const uint32_t link : loosened_) {
    if (links_[link].bottleneck_of > 0 || links_[link].load > links_[link].capacity) include(link);
  }
  do {
    include_users();
    fill();
  } while (grow());
  commit();
  new_.clear();
  loosened_.clear();
  return changed_;
}

void FairShare::begin_round() {
  if (++round_ > 0) return;
  for (User& user : users_) user.round = 0;
  for (Link& link : links_) link.round = link.change_round = 0;
  round_ = 1;
}

void FairShare::include(uint32_t number) {
  Link& link = links_[number];
  if (link.round == round_) return;
  link.round = round_;
  part_links_.push_back(number);
}

void FairShare::include_users() {
  for (; links_done_ < part_links_.size(); ++links_done_) {
    for (const Crossing& crossing : links_[part_links_[links_done_]].users) {
      User& user = users_[crossing.user];
      if (user.round == round_) continue;
      user.round = round_;
      part_users_.push_back(crossing.user);
    }
  }
}

void FairShare::fill() {
  by_limit_.clear();
  by_share_.clear();
  for (const uint32_t number : part_links_) {
    links_[number].left = links_[number].capacity;
    links_[number].weight = 0;
    links_[number].asked = 0;
  }
  for (const uint32_t number : part_users_) {
    User& user = users_[number];
    user.fixed = false;
    const bool held_outside =
        user.bottleneck != kOwnLimit && links_[user.bottleneck].round != round_;
    const double limit = held_outside ? user.rate : user.limit;
    by_limit_.push_back({limit, number});
    for (uint32_t i = 0; i < user.length; ++i) {
      Link& link = links_[part(user, i).link];
      if (link.round != round_) continue;
      link.weight += weight(user, i) * user.flows;
      link.asked += weight(user, i) * user.flows * limit;
    }
  }
  std::sort(by_limit_.begin(), by_limit_.end());
  for (const uint32_t number : part_links_) {
    const Link& link = links_[number];
    if (link.asked > link.capacity) by_share_.push_back({link.left / link.weight, number});
  }
  const auto later = std::greater<>();
  std::make_heap(by_share_.begin(), by_share_.end(), later);
  auto next = by_limit_.begin();
  while (true) {
    while (next != by_limit_.end() && users_[next->second].fixed) ++next;
    if (next == by_limit_.end()) return;
    if (by_share_.empty() || next->first <= by_share_.front().first) {
      const User& user = users_[next->second];
      const bool held_outside =
          user.bottleneck != kOwnLimit && links_[user.bottleneck].round != round_;
      fix(next->second, next->first, held_outside ? user.bottleneck : kOwnLimit);
      continue;
    }
    // Shares only grow while others are fixed at less: an entry may be too small, never too large.
    std::pop_heap(by_share_.begin(), by_share_.end(), later);
    const auto [share, number] = by_share_.back();
    by_share_.pop_back();
    const Link& link = links_[number];
    const bool is_busy = std::any_of(link.users.begin(), link.users.end(),
                                     [&](const Crossing& c) { return !users_[c.user].fixed; });
    if (!is_busy) continue;
    const double now = link.left / link.weight;
    if (now > share && differs(now, share)) {
      by_share_.push_back({now, number});
      std::push_heap(by_share_.begin(), by_share_.end(), later);
      continue;
    }
    for (const Crossing& crossing : link.users) {
      if (!users_[crossing.user].fixed) fix(crossing.user, share, number);
    }
  }
}

void FairShare::fix(uint32_t number, double rate, uint32_t bottleneck) {
  User& user = users_[number];
  user.fixed = true;
  user.next = differs(rate, user.rate) ? rate : user.rate;
  user.next_bottleneck = bottleneck;
  for (uint32_t i = 0; i < user.length; ++i) {
    Link& link = links_[part(user, i).link];
    if (link.round != round_) continue;
    link.weight -= weight(user, i) * user.flows;
    link.left -= weight(user, i) * user.flows * rate;
  }
}

bool FairShare::grow() {
  touched_.clear();
  for (const uint32_t number : part_users_) {
    const User& user = users_[number];
    if (user.next == user.rate) continue;
    for (uint32_t i = 0; i < user.length; ++i) {
      const uint32_t at = part(user, i).link;
      Link& link = links_[at];
      if (link.round == round_) continue;
      if (link.change_round != round_) {
        link.change_round = round_;
        link.change = 0;
      }
      if (link.change == 0) touched_.push_back(at);
      link.change += weight(user, i) * user.flows * (user.next - user.rate);
    }
  }
  bool grew = false;
  for (const uint32_t number : touched_) {
    Link& link = links_[number];
    const bool overfull = link.load + link.change > link.capacity * (1 + kLoadRounding);
    link.change = 0;
    if (link.bottleneck_of == 0 && !overfull) continue;
    grew = grew || link.round != round_;
    include(number);
  }
  return grew;
}

void FairShare::commit() {
  for (const uint32_t number : part_users_) {
    User& user = users_[number];
    if (user.bottleneck != user.next_bottleneck) {
      if (user.bottleneck != kOwnLimit) --links_[user.bottleneck].bottleneck_of;
      if (user.next_bottleneck != kOwnLimit) ++links_[user.next_bottleneck].bottleneck_of;
      user.bottleneck = user.next_bottleneck;
    }
    if (user.next != user.rate || user.is_new) changed_.push_back(number);
    if (user.next != user.rate) {
      for (uint32_t i = 0; i < user.length; ++i)
        links_[part(user, i).link].load += weight(user, i) * user.flows * (user.next - user.rate);
    }
    user.rate = user.next;
    user.is_new = false;
  }
  // Rounding does not add up where a link fills again and again.
  for (const uint32_t number : part_links_) {
    Link& link = links_[number];
    link.load = 0;
    for (const Crossing& crossing : link.users) {
      const User& user = users_[crossing.user];
      link.load += weight(user, crossing.part) * user.flows * user.rate;
    }
  }
}

bool FairShare::is_fair() const {
  constexpr double kNear = 1e-9;
  std::vector<double> loads(links_.size()), fastest(links_.size());
  for (const User& user : users_) {
    for (uint32_t i = 0; i < user.length; ++i) {
      const uint32_t link = part(user, i).link;
      loads[link] += weight(user, i) * user.flows * user.rate;
      fastest[link] = std::max(fastest[link], user.rate);
    }
  }
  for (size_t i = 0; i < links_.size(); ++i) {
    if (loads[i] > links_[i].capacity * (1 + kNear)) return false;
    if (std::abs(loads[i] - links_[i].load) > kNear * links_[i].capacity) return false;
  }
  return std::all_of(users_.begin(), users_.end(), [&](const User& user) {
    if (user.flows == 0 || user.rate >= user.limit * (1 - kNear)) return user.rate <= user.limit;
    const Part* route = parts_[user.route];
    return std::any_of(route, route + user.length, [&](const Part& part) {
      return loads[part.link] >= links_[part.link].capacity * (1 - kNear) &&
             user.rate >= fastest[part.link] * (1 - kNear);
    });
  });
}

}  // namespace rubato
