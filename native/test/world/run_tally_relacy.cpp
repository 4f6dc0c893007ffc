// Waiting for a rank's runs under relaxed memory orders, while another thread delivers completions, each of whose
// callbacks issues the next run.
#include "queues/relacy_report.hpp"
#include "world/run_tally.hpp"

namespace dfccl::test {

constexpr unsigned kRuns = 3;

/// The two reads the other way round: what the last callback issued is missed, what it ended is not.
class IssuedFirst {
 public:
  void noteIssued() { issued_.store(issued_.load(order::relaxed) + 1, order::relaxed); }
  void noteDelivered(uint64_t runs) { delivered_.fetchAdd(runs, order::release); }
  uint64_t inFlight() const {
    const uint64_t issued = issued_.load(order::relaxed);
    return issued - delivered_.load(order::acquire);
  }

 private:
  Atomic<uint64_t> issued_;
  Atomic<uint64_t> delivered_;
};

/// Thread 0 delivers and, in each callback but the last, issues; thread 1 waits for all.
template <class Tally>
struct WaitForChain : rl::test_suite<WaitForChain<Tally>, 2> {
  Tally tally;
  Plain<uint64_t> completed;

  void before() { tally.noteIssued(); }

  void thread(unsigned index) {
    if (index == 0) {
      for (unsigned run = 1; run <= kRuns; ++run) {
        completed.set(run);
        if (run != kRuns) tally.noteIssued();
        tally.noteDelivered(1);
      }
      return;
    }
    while (tally.inFlight() != 0) pause();
    require(completed.get() == kRuns, "the wait ended before the last callback");
  }
};

struct RelaxedDelivery : RunTallyOrders {
  static constexpr Order deliver = order::relaxed;
};
struct RelaxedLook : RunTallyOrders {
  static constexpr Order look = order::relaxed;
};

}  // namespace dfccl::test

int main() {
  using namespace dfccl;
  using namespace dfccl::test;
  RelacyReport report("tally of a rank's runs");
  report.holds<WaitForChain<RunTally>>("a wait ends after the last callback");
  report.isCaught<WaitForChain<IssuedFirst>>("issued is read before delivered");
  report.isCaught<WaitForChain<BasicRunTally<RelaxedDelivery>>>("delivery relaxed");
  report.isCaught<WaitForChain<BasicRunTally<RelaxedLook>>>("look relaxed");
  return report.finish();
}
