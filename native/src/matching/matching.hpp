#pragma once
// The runs of a rank that are matched by their signature: finds or makes the registration, brings buffers where all
// ranks reach them, and hands the run to the engine.
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "matching/matched_group.hpp"
#include "matching/matched_run.hpp"
#include "matching/open_receives.hpp"
#include "matching/self_messages.hpp"
#include "matching/signature_table.hpp"
#include "matching/staging_pool.hpp"
#include "world/graph_numbers.hpp"

namespace dfccl {

/// One of several that are submitted together.
struct BatchedRun {
  Matching* matching;  // its rank's
  std::shared_ptr<MatchedGroup> group;
  MatchedRun run;
  RequestPart* part;
  MatchedCollective* entry = nullptr;  // once it is prepared
};

class Matching {
 public:
  Matching(Backend& backend, uint32_t rank);
  Matching(const Matching&) = delete;
  Matching& operator=(const Matching&) = delete;

  /// @param ranks of the world. @throws Error dfcclInvalidArgument: this rank isn't one, or they aren't the world's.
  std::shared_ptr<MatchedGroup> makeGroup(std::vector<uint32_t> ranks, uint64_t name);
  /// The same of a split's part, whose name is its alone: so nothing is kept of it when it is gone.
  std::shared_ptr<MatchedGroup> makePart(std::vector<uint32_t> ranks, uint64_t name);
  /// @throws Error dfcclInUse
  void dropGroup(MatchedGroup& group);
  /// Gives up one run, on all its members. @pre it is this rank's
  void abortRun(const Signature& signature, const std::shared_ptr<MatchedGroup>& group);
  /// Gives up what this rank has in flight in the group, and refuses what comes later.
  void abortGroup(MatchedGroup& group);

  /// Whether buffers may have to be copied, so that every run needs a part of a request.
  bool mayCopy() const { return mayCopy_; }
  /// @param part of a request; null: nobody waits for this run alone. @pre it is a whole one
  /// @throws Error, and nothing was queued then.
  void submit(MatchedRun run, const std::shared_ptr<MatchedGroup>& group, RequestPart* part);
  /// All that may be refused, or fail for want of memory. @throws Error, with nothing kept.
  void prepare(BatchedRun& batched);
  /// Undoes it. @pre it isn't submitted
  void forgo(BatchedRun& batched);
  /// For runs of all ranks of its world. @throws Error dfcclUnavailable: streams have no kernels here
  std::unique_ptr<Backend::Launches> beginLaunches() { return backend_.beginLaunches(); }
  /// Runs of this rank, one behind the other. @param done gets how many it has submitted.
  /// @pre they are prepared. @throws Error
  /// @param launches gets those that are kernels in their streams; for the caller to launch.
  void submitPrepared(std::span<BatchedRun> runs, size_t& done, Backend::Launches* launches);
  /// Looks who has sent what this rank receives from anybody, and lets it be received. To be called by whoever waits.
  /// @return whether anything was found.
  bool lookForSenders() { return receives_.count() != 0 && lookForSendersOfAny(); }
  /// Whether this thread is in a callback that such a look has led to.
  bool isLookingHere() const { return looking_ == this; }
  /// Receives from anybody that nobody has sent for.
  uint64_t openReceives() const { return receives_.count(); }
  /// visit(const MatchedRun&, const MatchedGroup&)
  template <class Visit>
  void forEachOpenReceive(Visit&& visit) {
    const std::lock_guard lock(mutex_);
    receives_.forEach([&](const OpenReceives::Receive& receive) { visit(receive.run, *receive.group); });
  }
  /// visit(const Signature&, whether it is sent) for each message to itself whose other half is missing.
  template <class Visit>
  void forEachHalf(Visit&& visit) {
    const std::lock_guard lock(mutex_);
    messages_.forEach(visit);
  }
  /// Lets a stream go on only when a run is over. @throws Error
  void waitOnStream(const RequestPart& part, void* stream);
  /// @pre what the part has written is for its own stream alone. @throws Error dfcclUnavailable: this is another one;
  /// dfcclInvalidArgument: it captures
  void requireOwnStream(const RequestPart& part, void* stream);

  /// Before the rank is closed. @pre nothing is in flight.
  void clear();
  /// Messages to itself whose other half is missing.
  size_t halvesLeft();
  /// visit(const MatchedCollective&) for each that is registered.
  template <class Visit>
  void forEach(Visit&& visit) {
    const std::lock_guard lock(mutex_);
    table_.forEach(visit);
  }

 private:
  std::shared_ptr<MatchedGroup> membershipIn(std::vector<uint32_t> ranks) const;
  void checkOpen(const MatchedGroup& group) const;
  MatchedCollective& find(MatchedRun& run, const std::shared_ptr<MatchedGroup>& group);
  void checkBuffers(MatchedCollective& entry, const void* send, void* recv);
  void checkPrepared(MatchedCollective& entry, BatchedRun& batched, std::unique_lock<std::mutex>& lock);
  void takeBackAside(const MatchedCollective& entry);
  void takeBackAllAside();
  void bring(MatchedCollective& entry, const void*& send, void*& recv, RequestPart& part,
             std::unique_lock<std::mutex>& lock);
  bool submitCopied(MatchedCollective& entry, const MatchedRun& run, RequestPart& part,
                    std::unique_lock<std::mutex>& lock);
  void checkHalf(const RunShape& shape, const MatchedRun& run) const;
  static constexpr uint32_t kNobodyYet = 0xffffffff, kNobodyLeft = 0xfffffffe;
  enum class Sent { no, yes, neverAgain };

  bool lookForSendersOfAny();
  uint32_t senderOf(const OpenReceives::Receive& receive);
  Sent sentToSelf(const Signature& signature) const;
  Sent sentBy(const Signature& signature, const std::shared_ptr<MatchedGroup>& group);
  bool receiveFrom(uint32_t member, const OpenReceives::Receive& receive, std::unique_lock<std::mutex>& lock);
  // Those that queue say whether the run is over already, which its part is to be told without the lock: it calls the
  // user.
  bool submitHalf(BatchedRun& batched, std::unique_lock<std::mutex>& lock);
  using EnteredStream = std::unique_ptr<Backend::EnteredStream>;
  EnteredStream enterStreamOfHalves(const BatchedRun& batched, std::unique_lock<std::mutex>& lock);
  bool queueOrCopy(MatchedCollective& entry, const MatchedRun& run, RequestPart* part,
                   std::unique_lock<std::mutex>& lock, EnteredStream entered = nullptr);
  bool queue(MatchedCollective& entry, const void* send, void* recv, void* stream, RequestPart* part,
             std::unique_lock<std::mutex>& lock, EnteredStream entered = nullptr);
  uint32_t queueOnStream(MatchedCollective& entry, const void* send, void* recv, void* stream, RequestPart* part,
                         RunWindows windows, std::unique_lock<std::mutex>& lock, EnteredStream entered);
  void noteNumber(const MatchedCollective& entry, RequestPart& part);
  void noteStream(MatchedRun& run, const MatchedGroup& group) const;
  static bool isForStreams(const MatchedRun& run, const MatchedGroup& group);
  void noteInStream(MatchedRun& run, const MatchedGroup& group) const;
  void requireNoCapture(void* stream);
  void submitInStream(MatchedRun run, const std::shared_ptr<MatchedGroup>& group, RequestPart* part);
  void addLaunch(const MatchedCollective& entry, const MatchedRun& run, RequestPart* part, Backend::Launches& launches);
  MatchedCollective& entryOf(MatchedRun& run, const std::shared_ptr<MatchedGroup>& group,
                             const std::function<void(MatchedCollective&)>& check);
  void capture(MatchedCollective& entry, const void* send, void* recv, void* stream, RequestPart* part,
               std::unique_lock<std::mutex>& lock);

  static thread_local const Matching* looking_;

  Backend& backend_;
  const uint32_t rank_;
  const bool mayCopy_;
  std::mutex mutex_;
  SignatureTable table_;
  StagingPool pool_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> made_;  // groups of the same ranks and name
  struct GraphsOfSignature {
    GroupId group;
    GraphNumbers numbers;
  };
  std::map<CollectiveId, GraphsOfSignature> graphs_;  // by what signatures are outside of graphs
  SelfMessages messages_;
  OpenReceives receives_;
  uint32_t lastSender_ = 0;  // the search begins behind it, so that no member is always first
};

}  // namespace dfccl
