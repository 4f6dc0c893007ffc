// What collectives are called in reports, and that a deadlock's report calls them so.
#include "world/collective_name.hpp"

#include <doctest/doctest.h>

#include "world/wait_graph.hpp"

using namespace dfccl;

namespace {

CollectiveSpec called(Collective collective, std::vector<uint32_t> ranks, SignatureFacts facts = {}) {
  CollectiveSpec spec;
  spec.id = CollectiveId::ofSignature(0x1234, 0x5678);
  spec.collective = collective;
  spec.count = 10;
  spec.ranks = std::move(ranks);
  spec.signature = facts;
  return spec;
}

}  // namespace

TEST_CASE("an id is named by its number, a signature by its call") {
  CollectiveSpec spec = called(Collective::reduceScatter, {0, 1, 2, 3}, {Purpose::collective, 7});
  spec.op = ReduceOp::avg;
  CHECK(nameOf(spec) == "reduce-scatter of 10 float32, avg, tag 7 (ranks 0 to 3)");
  spec.id = 9;
  CHECK(nameOf(spec) == "reduce-scatter 9");
  CHECK(nameOf(called(Collective::barrier, {4})) == "barrier, tag 0 (rank 4)");
  CollectiveSpec rooted = called(Collective::gather, {5, 3});
  rooted.root = 1;
  CHECK(nameOf(rooted) == "gather of 10 float32, root rank 3, tag 0 (ranks 5, 3)");
}

TEST_CASE("messages, also those to oneself, which are carried out as copies, name both ends") {
  const SignatureFacts message{Purpose::pointToPoint, 1};
  CHECK(nameOf(called(Collective::sendRecv, {6, 2}, message)) ==
        "send-recv of 10 float32, from rank 6 to rank 2, tag 1");
  CHECK(nameOf(called(Collective::broadcast, {6}, message)) == "send-recv of 10 float32, from rank 6 to rank 6, tag 1");
  CHECK(nameOf(called(Collective::broadcast, {6})) == "broadcast of 10 float32, root rank 6, tag 0 (rank 6)");
}

TEST_CASE("parts of a whole name it") {
  CHECK(nameOf(called(Collective::sendRecv, {0, 1}, {Purpose::allToAllV, 3})) ==
        "send-recv of 10 float32, from rank 0 to rank 1, tag 3, part of an all-to-all-v");
  CHECK(nameOf(called(Collective::broadcast, {2}, {Purpose::allGatherV, 3})) ==
        "broadcast of 10 float32, root rank 2, tag 3, part of an all-gather-v (rank 2)");
  CHECK(nameOf(called(Collective::allGather, {0, 1}, {Purpose::split, 1})) ==
        "all-gather of 10 float32, tag 1, part of a split (ranks 0, 1)");
}

TEST_CASE("of many ranks the name says the ranges, and counts those beyond the first") {
  std::vector<uint32_t> ranks{7, 8, 9, 20, 21, 3};
  CHECK(nameOf(called(Collective::barrier, ranks)) == "barrier, tag 0 (ranks 7 to 9, 20, 21, 3)");
  ranks.clear();
  for (uint32_t r = 0; r < 200; r += 2) ranks.push_back(r);
  CHECK(nameOf(called(Collective::barrier, ranks)) == "barrier, tag 0 (ranks 0, 2, 4, 6, 8, 10, 12, 14 and 92 others)");
}

TEST_CASE("a deadlock's report names what is on the cycle, and tells signatures apart that share a number") {
  const CollectiveId a = CollectiveId::ofSignature(1, 5), b = CollectiveId::ofSignature(2, 5);
  REQUIRE(a.number == b.number);
  const auto nameOfId = [&](const CollectiveId& id) { return std::string(id == a ? "A" : "B"); };
  const RankSituation first{{{a, 0}}, {{b, 0}}}, second{{{b, 0}}, {{a, 0}}};
  const std::vector<RunMembers> runs{{a, 0, {0, 1}}, {b, 0, {0, 1}}};
  const DeadlockReport report = findDeadlock({first, second}, runs, nameOfId);
  CHECK(report.cycle.size() == 4);
  CHECK(report.text ==
        "Deadlock: rank 0 executes A and waits for rank 1; on rank 1 A is queued behind B; rank 1 executes B and waits "
        "for rank 0; on rank 0 B is queued behind A.");
  CHECK(findDeadlock({first, first}, runs, nameOfId).cycle.empty());
}
