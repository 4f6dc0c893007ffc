// Ranks that register an id come together in one registration, whatever that is made of.
#include "world/membership.hpp"

#include <doctest/doctest.h>

#include <set>

#include "base/error.hpp"

using namespace dfccl;

namespace {

struct PlainRegistration {
  CollectiveSpec registered;
  std::set<uint32_t> joined, members, away;
  bool poisoned = false;

  const CollectiveSpec& spec() const { return registered; }
  bool isPoisoned() const { return poisoned; }
  bool hasJoined(uint32_t member) const { return joined.count(member) != 0; }
  bool isMember(uint32_t member) const { return members.count(member) != 0; }
  bool isAway(uint32_t member) const { return away.count(member) != 0; }
  void checkAgreement(const CollectiveSpec& spec, uint64_t, uint32_t) const {
    if (spec.count != registered.count) throw Error(dfcclRegistrationMismatch, "count", "Agree.");
  }
};

CollectiveSpec specOf(uint32_t id, uint64_t count = 1) {
  CollectiveSpec spec;
  spec.id = id;
  spec.count = count;
  spec.ranks = {4, 2, 7};
  return spec;
}

struct Registrations {
  Membership<PlainRegistration> membership;

  std::shared_ptr<PlainRegistration> enter(const CollectiveSpec& spec, uint32_t member) {
    const auto make = [&] {
      auto made = std::make_shared<PlainRegistration>();
      made->registered = spec;
      return made;
    };
    auto registration = membership.registrationFor(spec, member, 0, make);
    registration->joined.insert(member);
    registration->members.insert(member);
    return registration;
  }
};

}  // namespace

TEST_CASE("a rank's number in a collective is its place in the list") {
  CHECK(memberOf(specOf(1), 4) == 0);
  CHECK(memberOf(specOf(1), 7) == 2);
}

TEST_CASE("members that register the same id meet, and those of another id don't") {
  Registrations all;
  const auto first = all.enter(specOf(1), 0);
  CHECK(all.enter(specOf(1), 2) == first);
  CHECK(all.enter(specOf(2), 1) != first);
  CHECK(std::distance(all.membership.begin(), all.membership.end()) == 2);
}

TEST_CASE("who has left begins a new registration, and the others join the oldest that they haven't been in") {
  Registrations all;
  const auto first = all.enter(specOf(1), 0);
  first->members.erase(0);
  const auto second = all.enter(specOf(1), 0);
  CHECK(second != first);
  CHECK(all.enter(specOf(1), 1) == first);
  first->members.erase(1);
  CHECK(all.enter(specOf(1), 1) == second);
}

TEST_CASE("nobody joins a registration that was given up, or one that is dropped") {
  Registrations all;
  const auto first = all.enter(specOf(1), 0);
  first->poisoned = true;
  const auto second = all.enter(specOf(1), 1);
  CHECK(second != first);
  all.membership.drop(*second);
  CHECK(all.enter(specOf(1), 2) != second);
  PlainRegistration stranger;
  stranger.registered = specOf(9);
  all.membership.drop(stranger);
  CHECK(std::distance(all.membership.begin(), all.membership.end()) == 2);
}

TEST_CASE("a second registration and one that disagrees are refused, and nothing is made for them") {
  Registrations all;
  all.enter(specOf(1), 0);
  const auto statusOf = [&](const CollectiveSpec& spec, uint32_t member) {
    try {
      all.enter(spec, member);
    } catch (const Error& e) {
      return e.status();
    }
    return dfcclSuccess;
  };
  CHECK(statusOf(specOf(1), 0) == dfcclAlreadyRegistered);
  CHECK(statusOf(specOf(1, 5), 1) == dfcclRegistrationMismatch);
  CHECK(std::distance(all.membership.begin(), all.membership.end()) == 1);
}
