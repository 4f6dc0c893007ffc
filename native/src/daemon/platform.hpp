#pragma once
// Everything that a platform must offer the daemon: one place per question, what it means, and when it is asked. The
// daemon's source is the same on a CPU (native/src/cpu/cpu_platform.hpp), on a GPU (cuda/device/cuda_platform.cuh) and
// in tests; each of them asserts Platform, so that a missing piece is one compiler error that names it.
//
// A platform object belongs to whoever steps a block: on a GPU to the block, on a CPU to a thread.
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "daemon/framing/protocols.hpp"
#include "daemon/movers/prepared_moves.hpp"
#include "daemon/movers/task_slice.hpp"
#include "daemon/rules.hpp"
#include "daemon/state/connector.hpp"
#include "daemon/state/context_slots.hpp"
#include "daemon/state/exchange.hpp"
#include "daemon/state/prepared_part.hpp"
#include "daemon/state/rank_memory.hpp"
#include "daemon/state/trace_point.hpp"
#include "daemon/tasks/turn_round.hpp"

namespace dfccl {

/// Stand for what the daemon hands to a platform's templates.
namespace on {
using Counter = Atomic<uint64_t, Scope::device>;
using Condition = bool (*)();
}  // namespace on

/// The types, asked for first: what follows speaks of them.
template <class P>
concept PlatformTypes = requires {
  typename P::Rules;  // rules.hpp; all of them but in controls
  typename P::BlockView;
  typename P::TaskPlaces;
  typename P::Submissions;
  typename P::FeedLeader;
  typename P::FeedReader;
};

/// What the daemon's parts are tuned by, and which of its optional parts there are. All are constants; a test's may be
/// variables.
template <class P>
concept PlatformConstants = requires {
  { P::kStepBudgetBytes } -> std::convertible_to<int64_t>;    // what one step may move before it returns
  { P::kVisitsPerStep } -> std::convertible_to<int>;          // tasks that one step may visit
  { P::kStepsPerDecision } -> std::convertible_to<uint32_t>;  // steps between two decisions to leave, at most
  { P::kContextSlots } -> std::convertible_to<uint32_t>;      // contexts that a block keeps at hand
  { P::kTogetherBytes } -> std::convertible_to<uint64_t>;     // small runs: whoever comes last moves all of it,
  { P::kRunsTogether } -> std::convertible_to<bool>;          // ... where that is possible at all
  { P::kTriesAtOnce } -> std::convertible_to<bool>;           // what comes alone is tried before it is queued
  { P::kRoundTurns } -> std::convertible_to<uint32_t>;        // tasks of a round (turn_round.hpp); 0: no rounds
  { P::kSpreads } -> std::convertible_to<bool>;               // runs change blocks by how many are under way
  { P::kCountsPerRun } -> std::convertible_to<bool>;          // a run may bring its count (count_agreement.hpp)
  { P::kHasRings } -> std::convertible_to<bool>;              // runs may go through rings (movers/ring_moves.hpp)
  { P::kHasStreams } -> std::convertible_to<bool>;            // streams submit runs, and wait for them
  { P::kIsRemote } -> std::convertible_to<bool>;              // the host writes its memory through the daemon alone
};

/// How this block's loads and stores are ordered with those of others. A look is at what may not be there yet; what
/// follows one that found it is acquired by found().
template <class P>
concept PlatformOrders = requires(const on::Counter& word) {
  { P::kLook } -> std::convertible_to<Order>;
  { P::kPublishOrder } -> std::convertible_to<Order>;  // of a mailbox: whether it publishes the buffers' contents too
  P::found(word);                                      // after a look that found what a peer or another block wrote
  P::foundTurn(word);                                  // ... that it is a run's turn, or where a peer's buffers are
  // Before an entry of the leader's that is no run, the first run of a collective, or a staged one.
  P::acquireEntry();
  P::releaseEntry();  // before the leader writes one, and where it gives a collective to another block
};

/// Where a block finds its own things. Made from the rank's memory and the block's number.
template <class P>
concept PlatformViews = requires(typename P::BlockView view, RankMemory& memory, uint32_t n) {
  {typename P::BlockView(memory, n)};
  { view.rank() } -> std::same_as<RankMemory&>;
  { view.block() } -> std::same_as<BlockMemory&>;
  { view.counters() } -> std::same_as<BlockCounters&>;
  { view.queued(n) } -> std::same_as<QueueEntry&>;  // the task queue, by position
  { view.queueCapacity() } -> std::convertible_to<size_t>;
  view.closeGap(n, n);  // moves the entries behind a position one place forward; then the queue's length before it
  view.growQueue();     // only in order, where a queue may hold more than there are tasks
  { view.isActive(n) } -> std::same_as<uint8_t&>;  // by task
  { view.nextRun(n) } -> std::same_as<uint32_t&>;  // by completion slot
  { view.lastRun(n) } -> std::same_as<uint32_t&>;  // by collective
};

/// Where contexts lie, and what is prepared of tasks. Made from the rank's memory and the block's number.
template <class P>
concept PlatformTaskPlaces = requires(typename P::TaskPlaces places, RankMemory& memory, uint32_t place) {
  {typename P::TaskPlaces(memory, place)};
  { P::TaskPlaces::kLasts } -> std::convertible_to<bool>;  // over the end of a stay
  { places.context(place) } -> std::same_as<ContextSlot&>;
  { places.prepared(place) } -> std::same_as<PreparedPart&>;
};

/// The queues that a platform reads in its own way: what the host submits, and what the leader tells all blocks.
template <class P>
concept PlatformQueues = requires(RankMemory& memory, typename P::Submissions submissions,
                                  typename P::FeedLeader leader, typename P::FeedReader reader, Sqe& sqe,
                                  FeedEntry& entry, uint32_t block) {
  {typename P::Submissions(memory)};
  { submissions.peek(sqe) } -> std::convertible_to<bool>;  // the next one, if it is there
  submissions.pop();                                       // it is taken
  submissions.release();                                   // gives back the places of all that were taken
  {typename P::FeedLeader(memory)};
  { leader.hasRoom() } -> std::convertible_to<bool>;
  { leader.tryPublish(entry) } -> std::convertible_to<bool>;  // false: no room
  {typename P::FeedReader(memory, block)};
  { reader.take(entry) } -> std::convertible_to<bool>;  // false: nothing is there
  { reader.hasMore() } -> std::convertible_to<bool>;
};

/// What the leader asks of the rank's records, and tells them.
template <class P>
concept PlatformRecords = requires(const P platform, RankMemory& memory, const RankMemory& looked, CollectiveHead& head,
                                   const CollectiveRecord& record, CollectiveRecord& own, on::Counter& counter,
                                   uint32_t n) {
  { platform.now() } -> std::convertible_to<uint64_t>;                // ticks of the quit policy
  { P::facts(looked, n) } -> std::convertible_to<uint64_t>;           // packed BlockFacts of a block, as far as known
  { P::controlTail(looked) } -> std::convertible_to<uint64_t>;        // requests of the host, as far as known
  { P::headOf(memory, n) } -> std::same_as<CollectiveHead&>;          // of a collective
  P::placeChanged(memory, n, head);                                   // its first block has: for the next stay
  P::countSubmitted(memory, n, head);                                 // one more run of it is passed on
  { P::completionsPosted(looked) } -> std::convertible_to<uint64_t>;  // not more than there are
  { P::partsAtEnd(looked, n) } -> std::same_as<uint32_t&>;            // by completion slot: run_count.hpp
  P::increment(counter);                                              // of a counter that this block alone writes
  { P::isComplete(record) } -> std::convertible_to<bool>;             // all members have registered it
  { P::isAborted(looked, n, n) } -> std::convertible_to<bool>;        // a block, a collective
  P::acknowledgeAbort(memory, n, own);  // this block will not touch the collective again, its record included
  P::forgetPlace(memory, n, n);         // a block, a collective: what the platform keeps of it
  P::mark(TracePoint::runTaken, uint64_t{});
};

/// A rank's meeting with its peers in a run.
template <class P>
concept PlatformMeetings = requires(P platform, const P& constant, const CollectiveRecord& record,
                                    const MeetingPlaces& places, uint64_t run, uint32_t n, bool flag) {
  // The record and all that is constant behind it, near; previous: what this returned for the same task and run before,
  // if anything; flag: whether peers' mailboxes are known already.
  { P::nearView(n, record, &record, flag) } -> std::same_as<const CollectiveRecord*>;
  // known: members whose mailboxes carry the run, those before this number. Gives how many do now.
  { platform.lookForMailboxes(places, run, n) } -> std::convertible_to<uint32_t>;
  // Whether a condition holds, after as many looks as are worth it before the task counts as stuck.
  { platform.poll(on::Condition{}) } -> std::convertible_to<bool>;
  P::finishAccess(places);  // this member will not touch the others' buffers in its run again
};

/// What moves data. Whoever calls these has found that all inputs are there.
template <class P>
concept PlatformMovers = requires(P platform, const CollectiveRecord& record, const ReduceCopyArgs& args,
                                  const RunAddresses& run, const PreparedMove& move, const PreparedCopies& copies,
                                  const Connector& connector, uint8_t* bytes, const uint8_t* from, Protocol protocol) {
  { platform.operands() } -> std::same_as<MoveOperands&>;
  platform.reduceCopy(record, args, run);
  platform.beginSeries();  // between these two nobody is told of any result
  platform.endSeries();
  platform.movePrepared(record, run, move);
  platform.copyPrepared(record, run, copies);
  { platform.hasArrived(protocol, connector, size_t{}) } -> std::convertible_to<bool>;  // all flags
  platform.unpack(protocol, bytes, bytes, size_t{});                // from a slot's lines into a payload
  platform.pack(protocol, connector, from, size_t{});               // ... and back, into the connector's next slot
  { platform.receiveStaging(size_t{}) } -> std::same_as<uint8_t*>;  // memory for one payload, until the next call
  { platform.sendStaging(size_t{}) } -> std::same_as<uint8_t*>;
};

/// Exchanges: each member sends its part to all, and reduces when all parts are there.
template <class P>
concept PlatformExchanges = requires(P platform, const Exchange& exchange, const PreparedExchange& prepared) {
  { platform.exchange(exchange) } -> std::convertible_to<bool>;  // sends unless that was done; whether it is over
  platform.beginExchange(exchange);  // the same in two halves, between which the block does something else
  platform.beginExchange(prepared);
  { platform.endExchange() } -> std::convertible_to<bool>;
};

/// What ends: runs, and stays.
template <class P>
concept PlatformEnds = requires(RankMemory& memory, uint32_t n, uint64_t cqe, bool isOrdered) {
  // The one store that tells the host; isOrdered: what other blocks wrote for the run is ordered before this already.
  P::postCompletion(memory, n, cqe, isOrdered);
  P::blockLeft(memory, n);  // of the last one, the daemon's end
};

/// Streams that submit runs and wait for them (pending_runs.hpp, waiting_streams.hpp). Platforms without have these do
/// nothing.
template <class P>
concept PlatformStreams = requires(const RankMemory& memory, const PendingMemory& pending, uint32_t n, uint64_t now) {
  P::willLeave(memory);                                           // the host is told, before the last look
  { P::isAnybodyWaiting(memory) } -> std::convertible_to<bool>;   // the last look
  P::stayedOn(memory, now);                                       // somebody was; as if the stay had only begun
  { P::arrivals(memory) } -> std::convertible_to<uint32_t>;       // changes when something may have come
  { P::arrivedOn(pending, n) } -> std::convertible_to<uint32_t>;  // how far the stream of a line is
  P::awaitLines(memory, n);                                       // a bit for each line on which somebody is awaited
};

/// Where the host's threads step the blocks (rank_daemon.hpp) of a platform with streams: whether one has come to a
/// run.
template <class P>
concept PlatformArrivals = !P::kHasStreams || P::kIsRemote || requires(const RankMemory& memory) {
  { P::hasArrivals(memory) } -> std::convertible_to<bool>;
};

/// Rounds (turn_round.hpp): several tasks' turns at once. Between the two nothing else is asked of the platform.
template <class P>
concept PlatformRounds = P::kRoundTurns == 0 || requires(P platform, ContextSlots<P>& slots, const TaskQueue<P>& tasks,
                                                         const RoundPositions& positions) {
  platform.beginRound(slots, tasks, positions);
  { platform.isRoundOver() } -> std::convertible_to<bool>;
  { platform.endRound() } -> std::same_as<const RoundTurn*>;
};

/// Rings (movers/ring_moves.hpp): what is moved into one is read again soon.
template <class P>
concept PlatformRings =
    !P::kHasRings || requires(P platform, const CollectiveRecord& record, const ReduceCopyArgs& args) {
  platform.reduceCopyNear(record, args);
};

/// Requests of the host to copy or clear the daemon's memory.
template <class P>
concept PlatformRequests = !P::kIsRemote || requires(const RankMemory& memory, const ControlRequest& request) {
  P::carryOut(memory, request);
};

template <class P>
concept Platform = PlatformTypes<P> && PlatformConstants<P> && PlatformOrders<P> && PlatformViews<P> &&
    PlatformTaskPlaces<P> && PlatformQueues<P> && PlatformRecords<P> && PlatformMeetings<P> && PlatformMovers<P> &&
    PlatformExchanges<P> && PlatformEnds<P> && PlatformStreams<P> && PlatformArrivals<P> && PlatformRounds<P> &&
    PlatformRings<P> && PlatformRequests<P>;

}  // namespace dfccl
