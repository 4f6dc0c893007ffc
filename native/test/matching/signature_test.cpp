// Signatures: everything that ranks have to agree on is in the id, and every build computes the same ids.
#include "matching/signature.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <set>
#include <vector>

using namespace dfccl;

namespace {

const std::vector<uint32_t> kRanks{3, 1, 2};

Signature example() {
  Signature s;
  s.group = GroupId::of(kRanks, 7, 2);
  s.purpose = Purpose::pointToPoint;
  s.collective = Collective::sendRecv;
  s.root = 2;
  s.receiver = 1;
  s.count = (uint64_t{1} << 40) + 3;
  s.tag = (uint64_t{1} << 63) + 5;
  return s;
}

}  // namespace

TEST_CASE("each fact of a signature changes its id, and nothing else is needed to tell it") {
  const std::vector<std::function<void(Signature&)>> changes{
      [](Signature& s) { s.group.high ^= 1; },
      [](Signature& s) { s.group.low ^= 1; },
      [](Signature& s) { s.purpose = Purpose::allToAllV; },
      [](Signature& s) { s.collective = Collective::broadcast; },
      [](Signature& s) { s.type = DataType::float64; },
      [](Signature& s) { s.op = ReduceOp::max; },
      [](Signature& s) { s.root = 1; },
      [](Signature& s) { s.receiver = 2; },
      [](Signature& s) { std::swap(s.root, s.receiver); },
      [](Signature& s) { ++s.count; },
      [](Signature& s) { s.count ^= uint64_t{1} << 40; },
      [](Signature& s) { ++s.tag; },
      [](Signature& s) { s.tag ^= uint64_t{1} << 63; },
      [](Signature& s) { std::swap(s.count, s.tag); },
      [](Signature& s) { s.countsHash = 1; },
  };
  std::set<CollectiveId> ids{idOf(example())};
  for (const auto& change : changes) {
    Signature changed = example();
    change(changed);
    CHECK_FALSE(changed == example());
    ids.insert(idOf(changed));
  }
  CHECK(ids.size() == changes.size() + 1);
  CHECK(idOf(example()) == idOf(example()));
  for (const CollectiveId& id : ids) CHECK(id.isSignature());
}

TEST_CASE("a group is its ranks in their order, its name, and which of these it is") {
  const auto id = [](const std::vector<uint32_t>& ranks, uint64_t name, uint64_t ordinal) {
    const GroupId group = GroupId::of(ranks, name, ordinal);
    return std::pair{group.high, group.low};
  };
  const std::set<std::pair<uint64_t, uint64_t>> ids{
      id({0, 1}, 0, 1), id({1, 0}, 0, 1), id({0, 1, 2}, 0, 1), id({0}, 1, 1),
      id({0, 1}, 1, 1), id({0, 1}, 0, 2), id({0, 1}, 2, 0),
  };
  CHECK(ids.size() == 7);
  CHECK(id({0, 1}, 0, 1) == id({0, 1}, 0, 1));
  const GroupId group = GroupId::of(kRanks, 7, 2);
  const std::set<uint64_t> parts{group.nameOfPart(1, 0), group.nameOfPart(1, 1), group.nameOfPart(2, 0),
                                 GroupId::of(kRanks, 7, 3).nameOfPart(1, 0)};
  CHECK(parts.size() == 4);
}

TEST_CASE("lists of counts are told apart by each count and its place") {
  const uint64_t far = uint64_t{1} << 46;
  const std::vector<std::vector<uint64_t>> lists{
      {}, {0}, {0, 0}, {3, 5}, {5, 3}, {3, 7}, {3, 5, 0}, {0, 3, 5}, {far, 5}, {far, far}, {uint64_t{1} << 31, 5}};
  std::set<uint64_t> hashes;
  for (const auto& list : lists) hashes.insert(hashOfCounts(list));
  CHECK(hashes.size() == lists.size());
  for (const uint64_t hash : hashes) CHECK(hash < uint64_t{1} << 53);
}

// A rank from C and one from TypeScript, or of another build, are of one job.
TEST_CASE("ids are these numbers everywhere") {
  const GroupId group = GroupId::of(kRanks, 7, 2);
  CHECK(group.high == 0xd2f0ea798d861662);
  CHECK(group.low == 0xc1a43bd0a304600b);
  CHECK(group.nameOfPart(5, 9) == 0x81b3b58605894a78);
  CHECK(idOf(example()).high == 0xd3478870601e9287);
  CHECK(idOf(example()).low == 0xac99ddfb938bfaf7);
  const std::vector<uint64_t> counts{3, 5, (uint64_t{1} << 46) - 1, uint64_t{1} << 31};
  CHECK(hashOfCounts(counts) == 8170738381006463);
}
