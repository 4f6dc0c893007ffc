#pragma once
// A task whose part is a prepared exchange. It needs neither the program nor any table of the collective's, so where
// many tasks take turns, none of that has to be brought near for it.
#include <cstdint>

#include "daemon/lifecycle/outcome.hpp"
#include "daemon/lifecycle/part_end.hpp"
#include "daemon/lifecycle/run_turn.hpp"
#include "daemon/state/prepared_part.hpp"
#include "daemon/state/records.hpp"

namespace dfccl {

template <class P>
class PreparedExchangeTask {
 public:
  DFCCL_HD PreparedExchangeTask(P& platform, PreparedExchange& exchange, CollectiveRecord& collective,
                                uint32_t blockCount, const RunAddresses& run, RunRecord& record,
                                DynamicContext& context)
      : platform_(platform),
        exchange_(exchange),
        collective_(collective),
        blockCount_(blockCount),
        run_(run),
        record_(record),
        context_(context) {}

  /// As Interpreter::advance.
  DFCCL_HD Outcome advance(int64_t& budgetBytes, bool& progressed) {
    if (!isMyTurn()) return Outcome::stuck;
    if (!carryOut(platform_, exchange_, run_, context_.isSent != 0, false)) {
      progressed |= context_.isSent == 0;
      context_.isSent = 1;
      return Outcome::stuck;
    }
    progressed = true;
    budgetBytes -= static_cast<int64_t>(exchange_.count * sizeOf(exchange_.type)) * (2 * exchange_.members);
    return endPart(record_.blocksDone, blockCount_, run_.partsAtEnd);
  }

  /// As Interpreter::sendEarly.
  DFCCL_HD void sendEarly() {
    if (!isMyTurn()) return;
    carryOut(platform_, exchange_, run_, context_.isSent != 0, true);
    context_.isSent = 1;
  }

  /// @return whether all parts were there.
  DFCCL_HD static bool carryOut(P& platform, PreparedExchange& exchange, const RunAddresses& run, bool isSent,
                                bool isSendOnly) {
    exchange.aimAt(run);
    exchange.isSent = isSent;
    exchange.isSendOnly = isSendOnly;
    platform.beginExchange(exchange);
    const bool isThere = platform.endExchange();
    exchange.isSent = exchange.isSendOnly = 0;
    return isThere;
  }

 private:
  DFCCL_HD bool isMyTurn() {
    if (context_.phase != Phase::starting) return true;
    if (!isTurnOf<P>(collective_, blockCount_, run_.run)) return false;
    context_.phase = Phase::running;
    return true;
  }

  P& platform_;
  PreparedExchange& exchange_;
  CollectiveRecord& collective_;
  const uint32_t blockCount_;
  const RunAddresses& run_;
  RunRecord& record_;
  DynamicContext& context_;
};

}  // namespace dfccl
