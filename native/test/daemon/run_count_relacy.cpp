// The count of a run's blocks under relaxed memory orders: three blocks, each of which writes a part of the result, and
// a host that reads all of it once the completion is there.
#include "daemon/state/run_count.hpp"
#include "queues/relacy_report.hpp"

namespace dfccl::test {

constexpr unsigned kBlocks = 3;

struct PostOrders {
  static constexpr Order post = order::release;
};

/// Threads 0 to 2 are blocks, thread 3 is the host.
template <class CountOrders, class Orders = PostOrders>
struct CountAndPost : rl::test_suite<CountAndPost<CountOrders, Orders>, kBlocks + 1> {
  BasicRunCount<CountOrders> count;
  Plain<uint64_t> result[kBlocks];
  Atomic<uint64_t> completion;

  void thread(unsigned index) {
    if (index < kBlocks) {
      result[index].set(10 + index);
      const RunProgress progress = count.count(1, kBlocks, kBlocks);
      require(progress != RunProgress::aborted, "nobody gave anything up");
      if (progress == RunProgress::finished) completion.store(1, Orders::post);
      return;
    }
    while (completion.load(order::acquire) == 0) pause();
    for (unsigned block = 0; block < kBlocks; ++block) {
      require(result[block].get() == 10 + block, "completed before a block's result");
    }
  }
};

/// One block gives its part up: the run ends, once, and not as completed.
struct GiveUp : rl::test_suite<GiveUp, kBlocks + 1> {
  RunCount count;
  Atomic<uint32_t> posted;

  void thread(unsigned index) {
    if (index == kBlocks) {
      while (posted.load(order::acquire) == 0) pause();
      return;
    }
    const RunProgress progress = count.count(1, kBlocks, kBlocks, index == 1);
    if (progress == RunProgress::blocksLeft) return;
    require(progress == RunProgress::aborted, "completed without a part");
    require(posted.fetchAdd(1, order::release) == 0, "ended twice");
  }
};

/// The count goes on from one run to the next: nobody sets it back, and what was given up before is forgotten.
struct NextRun : rl::test_suite<NextRun, kBlocks + 1> {
  RunCount count;
  Atomic<uint32_t> posted, begun;

  void thread(unsigned index) {
    if (index == kBlocks) {
      while (posted.load(order::acquire) == 0) pause();
      begun.store(1, order::release);
      while (posted.load(order::acquire) == 1) pause();
      return;
    }
    if (count.count(1, kBlocks, kBlocks, index == 1) != RunProgress::blocksLeft) posted.store(1, order::release);
    while (begun.load(order::acquire) == 0) pause();
    const RunProgress progress = count.count(1, kBlocks, 2 * kBlocks);
    require(progress != RunProgress::aborted, "given up in the run before");
    if (progress == RunProgress::finished) posted.store(2, order::release);
  }
};

struct ReleaseOnly : RunCountOrders {
  static constexpr Order count = order::release;
};
struct AcquireOnly : RunCountOrders {
  static constexpr Order count = order::acquire;
};
struct Relaxed : RunCountOrders {
  static constexpr Order count = order::relaxed;
};
struct RelaxedPost : PostOrders {
  static constexpr Order post = order::relaxed;
};

}  // namespace dfccl::test

int main() {
  using namespace dfccl;
  using namespace dfccl::test;
  RelacyReport report("count of a run's blocks");
  report.holds<CountAndPost<RunCountOrders>>("a completion follows every block's result");
  report.holds<GiveUp>("a run that a block gave up ends once, as aborted");
  report.holds<NextRun>("the next run of a slot counts on");
  report.isCaught<CountAndPost<ReleaseOnly>>("count releases, doesn't acquire");
  report.isCaught<CountAndPost<AcquireOnly>>("count acquires, doesn't release");
  report.isCaught<CountAndPost<Relaxed>>("count relaxed");
  report.isCaught<CountAndPost<RunCountOrders, RelaxedPost>>("bare store of the completion");
  return report.finish();
}
