// The lock of a block under relaxed memory orders: three threads step one block.
#include "daemon/loop/try_lock.hpp"
#include "queues/relacy_report.hpp"

namespace dfccl::test {

struct NoLock {
  bool tryLock() { return true; }
  void unlock() {}
};
/// Looks and takes in two steps.
struct TornLock {
  Atomic<uint32_t> taken;
  bool tryLock() {
    if (taken.load(order::acquire) != 0) return false;
    taken.store(1, order::relaxed);
    return true;
  }
  void unlock() { taken.store(0, order::release); }
};

template <class Lock>
struct Step : rl::test_suite<Step<Lock>, 3> {
  Lock lock;
  Plain<uint32_t> context;
  Atomic<uint32_t> steps;

  void thread(unsigned) {
    for (int attempt = 0; attempt < 3; ++attempt) {
      if (!lock.tryLock()) continue;  // never waited for
      context.set(context.get() + 1);
      steps.fetchAdd(1, order::relaxed);
      lock.unlock();
    }
  }
  void after() { require(context.get() == steps.load(order::relaxed), "a step was lost"); }
};

struct WeakTake : TryLockOrders {
  static constexpr Order take = order::relaxed;
};
struct WeakGiveBack : TryLockOrders {
  static constexpr Order giveBack = order::relaxed;
};

}  // namespace dfccl::test

int main() {
  using namespace dfccl;
  using namespace dfccl::test;
  RelacyReport report("the lock of a block");
  report.holds<Step<TryLock>>("one thread at a time, and it sees what the last one did");
  report.isCaught<Step<BasicTryLock<WeakTake>>>("A1 take");
  report.isCaught<Step<BasicTryLock<WeakGiveBack>>>("R1 giveBack");
  report.isCaught<Step<TornLock>>("look and take in two steps");
  report.isCaught<Step<NoLock>>("no lock");
  return report.finish();
}
