#pragma once
// The runs of a rank that are matched by their signature: finds or makes the registration, brings buffers where all
// ranks reach them, and hands the run to the engine.
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "matching/matched_group.hpp"
#include "matching/request.hpp"
#include "matching/signature_table.hpp"
#include "matching/staging_pool.hpp"

namespace dfccl {

/// One run, as the caller describes it.
struct MatchedRun {
  Signature signature;
  const void* send = nullptr;
  void* recv = nullptr;
  void* stream = nullptr;  // it begins behind what that has been given; null: at once
};

class Matching {
 public:
  Matching(Backend& backend, uint32_t rank);
  Matching(const Matching&) = delete;
  Matching& operator=(const Matching&) = delete;

  /// @param ranks of the world. @throws Error dfcclInvalidArgument: this rank isn't one, or they aren't the world's.
  std::shared_ptr<MatchedGroup> makeGroup(std::vector<uint32_t> ranks, uint64_t name);
  /// @throws Error dfcclInUse
  void dropGroup(MatchedGroup& group);
  /// Gives up one run, on all its members. @pre it is this rank's
  void abortRun(const Signature& signature, const std::shared_ptr<MatchedGroup>& group);
  /// Gives up what this rank has in flight in the group, and refuses what comes later.
  void abortGroup(MatchedGroup& group);

  /// Whether buffers may have to be copied, so that every run needs a part of a request.
  bool mayCopy() const { return mayCopy_; }
  /// @param part of a request; null: nobody waits for this run alone.
  /// @throws Error, and nothing was queued then.
  void submit(const MatchedRun& run, const std::shared_ptr<MatchedGroup>& group, RequestPart* part);
  /// A message of this rank to itself, in one of its roles; it moves when both are there. @throws Error
  void submitHalf(bool isSend, const MatchedRun& run, const std::shared_ptr<MatchedGroup>& group, RequestPart& part);
  /// Lets a stream go on only when a request's run is over. @throws Error
  void waitOnStream(const Request& request, void* stream);

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
  struct Half {
    const void* send;
    void* recv;
    RequestPart* part;
    std::shared_ptr<MatchedGroup> group;
  };
  /// Of one signature, those whose other half is missing: all in the same role.
  struct Halves {
    bool areSends = false;
    std::deque<Half> waiting;
  };

  void checkOpen(const MatchedGroup& group) const;
  MatchedCollective& find(const MatchedRun& run, const std::shared_ptr<MatchedGroup>& group);
  void checkBuffers(MatchedCollective& entry, const void* send, void* recv);
  void bringIntoReach(const MatchedCollective& entry, const void*& send, void*& recv, RequestPart& part);
  void submitCopied(MatchedCollective& entry, const MatchedRun& run, RequestPart& part,
                    std::unique_lock<std::mutex>& lock);
  void queue(MatchedCollective& entry, const void* send, void* recv, void* stream, RequestPart* part);

  Backend& backend_;
  const uint32_t rank_;
  const bool mayCopy_;
  std::mutex mutex_;
  SignatureTable table_;
  StagingPool pool_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> made_;  // groups of the same ranks and name
  std::map<CollectiveId, Halves> halves_;                   // [the signature's id]
};

}  // namespace dfccl
