// Runs that are kernels in streams, as the host keeps them.
#include "world/runs_in_streams.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <utility>
#include <vector>

using namespace dfccl;

namespace {

constexpr uint32_t kMost = 100;

/// A collective's kernels, and whoever keeps what they tell.
struct Kernels {
  explicit Kernels(uint32_t index) : index(index) {}

  RunsInStreams::Prepared prepare() const { return {source, hold, {index, nullptr, nullptr}}; }
  RunsInStreams::Prepared launch(RunsInStreams& runs) {
    RunsInStreams::Prepared run = prepare();
    runs.launched(run, ++launched);
    return run;
  }
  bool isHeld() const { return hold.use_count() > 1; }

  const uint32_t index;
  Atomic<uint64_t> over, firstEnded;
  const std::shared_ptr<RunsInStreams::Source> source = std::make_shared<RunsInStreams::Source>(&over, &firstEnded);
  const std::shared_ptr<const void> hold = std::make_shared<int>();
  uint64_t launched = 0;
};

using Told = std::vector<std::pair<uint64_t, dfcclResult_t>>;

Told take(RunsInStreams& runs, uint32_t most = kMost) {
  Told told;
  runs.take(most, [&](const RunsInStreams::Run& run, dfcclResult_t status) { told.emplace_back(run.number, status); });
  return told;
}

}  // namespace

TEST_CASE("runs are told of in their order, once they are over") {
  RunsInStreams runs;
  Kernels kernels(7);
  for (int i = 0; i < 4; ++i) kernels.launch(runs);
  CHECK(take(runs).empty());
  kernels.over.store(2, order::release);
  CHECK(runs.overOf(7) == 2);
  CHECK(runs.overOf(8) == 0);
  CHECK(take(runs, 1) == Told{{1, dfcclSuccess}});
  kernels.firstEnded.store(4, order::relaxed);
  kernels.over.store(4, order::release);
  CHECK_FALSE(runs.isAnyUnderWay());
  CHECK(take(runs) == Told{{2, dfcclSuccess}, {3, dfcclSuccess}, {4, dfcclAborted}});
  CHECK_FALSE(runs.hasAny());
}

TEST_CASE("one collective's runs don't wait for another's") {
  RunsInStreams runs;
  Kernels slow(0), quick(1);
  slow.launch(runs);
  quick.launch(runs);
  quick.over.store(1, order::release);
  CHECK(take(runs).size() == 1);
  CHECK(runs.isAnyUnderWay());
  CHECK(slow.isHeld());
  slow.over.store(1, order::release);
  CHECK(take(runs).size() == 1);
}

TEST_CASE("what kernels use is held until all are told of") {
  RunsInStreams runs;
  Kernels kernels(0);
  {
    kernels.launch(runs);
    kernels.launch(runs);
  }
  kernels.over.store(1, order::release);
  CHECK(take(runs).size() == 1);
  CHECK(kernels.isHeld());
  kernels.over.store(2, order::release);
  CHECK(kernels.isHeld());
  CHECK(take(runs).size() == 1);
  CHECK_FALSE(kernels.isHeld());
}

TEST_CASE("a run that can't be launched ends as aborted, and those before it as they do") {
  RunsInStreams runs;
  Kernels kernels(3);
  kernels.launch(runs);
  {
    RunsInStreams::Prepared never = kernels.prepare();
    runs.ended(never);
    RunsInStreams::Prepared failed = kernels.launch(runs);
    runs.ended(failed);
  }
  CHECK(take(runs) == Told{{0, dfcclAborted}, {2, dfcclAborted}});
  CHECK(runs.isAnyUnderWay());
  kernels.over.store(1, order::release);
  CHECK(take(runs) == Told{{1, dfcclSuccess}});
  CHECK_FALSE(kernels.isHeld());
}

TEST_CASE("where the only one can't be launched, nobody is under way") {
  RunsInStreams runs;
  Kernels kernels(3);
  {
    RunsInStreams::Prepared failed = kernels.launch(runs);
    runs.ended(failed);
  }
  CHECK_FALSE(runs.isAnyUnderWay());
  CHECK(runs.overOf(3) == 1);
  CHECK(take(runs) == Told{{1, dfcclAborted}});
  CHECK_FALSE(runs.hasAny());
  CHECK_FALSE(kernels.isHeld());
}
