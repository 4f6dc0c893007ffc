#pragma once
// What an ncclComm_t stands for: one rank of a communicator.
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/atomics.hpp"
#include "dfccl/dfccl.h"
#include "nccl_api/calls/agreed_in_streams.hpp"
#include "nccl_api/universe/abi.hpp"
#include "nccl_api/universe/name.hpp"
#include "nccl_api/universe/scaled_sums.hpp"
#include "nccl_api/universe/universes.hpp"

namespace dfccl::nccl {

/// What a caller's ncclConfig_t asks for.
struct Config {
  bool isBlocking = true;
  uint32_t mostBlocks = 0;          // of a world's daemon; 0: as many as it has by itself
  uint64_t mostBytesInStreams = 0;  // see dfcclGroupRunInStreams, here and below
  uint32_t mostBlocksInStreams = 0;

  /// All of it, for another NCCL; nothing where the caller gave none.
  std::optional<ncclConfig_t> given;
  std::shared_ptr<const std::string> netName, commName;  // of `given`

  /// @param from may be null. @throws Failure ncclInvalidArgument
  static Config read(const ncclConfig_t* from);
  /// As another NCCL takes it. @return null: the caller gave none.
  ncclConfig_t* forReal(ncclConfig_t& copy) const;
};

class Communicator {
 public:
  Communicator(const Config& config, int device) : config(config), device(device) {}

  const Config config;
  const int device;
  Atomic<uint32_t> isCancelled;  // its making is to end

  /// Whether it takes operations. @throws Failure while it is being made, or where that failed, or it was aborted,
  /// revoked or finalized.
  void checkReady() const;
  /// The same of an operation that it took before it was finalized.
  void checkState() const;
  /// Of an operation that begins later, in a group. @throws Failure: it was finalized
  void checkNotFinalized() const;
  /// Whether its ranks are known: one that was revoked or finalized has them, too. @throws Failure
  void checkHasRanks() const;
  bool isReady() const { return state() == State::ready; }
  int rank() const { return rank_; }
  int size() const { return static_cast<int>(members_.size()); }
  const Name& name() const { return name_; }
  dfcclGroup_t group() const { return group_; }
  dfcclRankCtx_t context() const { return placed_.universe->context(universeRank()); }
  /// Its place in the universe.
  int universeRank() const { return members_[static_cast<size_t>(rank_)]; }
  const std::shared_ptr<Universe>& universe() const { return placed_.universe; }
  /// Of each rank its place in the universe.
  const std::vector<int>& members() const { return members_; }
  /// Operators that were made for it.
  ScaledSums& scaledSums() { return scaledSums_; }

  /// It has its ranks. @param inStreams the same for all of them @throws Failure
  void become(const Name& name, int rank, Placed placed, const InStreams& inStreams);
  /// It is another NCCL's, whose handle `make` stores where it is told to. @throws Failure: it could not be made
  template <class Make>
  void fallBack(const Make& make) {
    make(&real_);
    hasFallenBack();
  }
  /// The other NCCL's handle; null unless it has fallen back.
  ncclComm_t real() const { return state() == State::fallenBack ? real_ : nullptr; }
  /// It could not be made.
  void failed(ncclResult_t result);
  /// ncclInProgress while it is being made; what made it fail, or what has happened to its runs since.
  ncclResult_t asyncError();
  /// Waits until the making is over, either way.
  void awaitMade();
  /// A split that gives this rank no part is being made, while nobody waits for it, or is over, either way.
  void beganSplit() { splitsUnderWay_.fetchAdd(1, order::relaxed); }
  void endedSplit();
  /// Waits until there are none.
  void awaitSplits();
  /// How often it was split, shrunk or grown before; all ranks do each of these equally often.
  uint64_t nextSplit() { return splits_.fetchAdd(1, order::relaxed); }
  /// @param kept the ranks that are left: those alone have done it as often.
  uint64_t nextShrink(const std::vector<int>& kept) {
    const std::lock_guard lock(mutex_);
    return shrinks_[kept]++;
  }
  uint64_t nextGrowth() { return growths_.fetchAdd(1, order::relaxed); }
  /// What ranks that are to join it next meet those that it has by.
  Name growthName() const { return name_.derived(growths_.load(order::relaxed), 3); }

  /// How many have gone before on this line: 0 for collectives, others for messages.
  uint64_t position(int64_t line) {
    const std::lock_guard lock(mutex_);
    return positions_[line];
  }
  void advance(int64_t line) {
    const std::lock_guard lock(mutex_);
    ++positions_[line];
  }
  /// What had one was refused.
  void retreat(int64_t line) {
    const std::lock_guard lock(mutex_);
    --positions_[line];
  }

  /// A run of it was submitted, or is over.
  void began() { inFlight_.fetchAdd(1, order::relaxed); }
  void ended(dfcclResult_t status);
  /// It takes no more operations. @throws Failure ncclInvalidArgument: it was finalized before
  void finalize();
  /// Waits until all its runs are over. @throws Failure
  void drain();
  /// Doesn't: until they are, asyncError() says ncclInProgress. @return the same. @throws Failure
  ncclResult_t beginDrain();
  /// Gives its runs up, and refuses later ones. It can still be split, shrunk and grown.
  void revoke();
  /// Gives its runs up, and refuses all that is asked of it later.
  void abort();
  /// Its handle is gone. Threads that are in a call with it still find its world, and its group until they are out.
  void leave();
  /// A call that uses the group. Another thread may destroy or abort the communicator meanwhile.
  class Use {
   public:
    /// @throws Failure ncclInvalidUsage: it has left
    explicit Use(Communicator& communicator);
    ~Use() { end(); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    void end();
    Communicator& communicator_;
  };

 private:
  enum class State : uint32_t { making, ready, fallenBack, revoked, failed, aborted };
  State state() const { return static_cast<State>(state_.load(order::acquire)); }
  bool isDrained() const;
  void destroyGroup();
  void hasFallenBack();

  Atomic<uint32_t> state_;
  Atomic<uint32_t> error_;  // ncclResult_t
  Atomic<uint64_t> inFlight_;
  Atomic<uint32_t> isFinalized_;
  Atomic<uint32_t> isDraining_;
  Atomic<uint32_t> splitsUnderWay_;
  Atomic<uint32_t> users_;  // calls that use the group
  Atomic<uint32_t> isLeft_;
  Atomic<uint64_t> splits_;
  Atomic<uint64_t> growths_;
  mutable std::mutex mutex_;  // of becoming something
  std::condition_variable made_;
  Name name_;
  int rank_ = 0;
  Placed placed_;
  std::vector<int> members_;
  dfcclGroup_t group_ = nullptr;
  ncclComm_t real_ = nullptr;
  ScaledSums scaledSums_;
  std::map<int64_t, uint64_t> positions_;         // under mutex_
  std::map<std::vector<int>, uint64_t> shrinks_;  // under mutex_
};

/// Those that callers have handles of. A handle is a value, so one that was destroyed, or never made, is recognised.
class Communicators {
 public:
  static ncclComm_t add(std::shared_ptr<Communicator> communicator);
  /// @throws Failure ncclInvalidArgument
  static std::shared_ptr<Communicator> find(ncclComm_t handle);
  /// The other NCCL's handle of one that has fallen back; null for any other handle.
  static ncclComm_t realOf(ncclComm_t handle) noexcept;
  /// From now on the handle is nobody's. @throws Failure ncclInvalidArgument
  static std::shared_ptr<Communicator> remove(ncclComm_t handle);
};

/// @return the one of the handle, ready to be used. @throws Failure
std::shared_ptr<Communicator> readyCommunicator(ncclComm_t handle);
/// @return the same, or one that was revoked or finalized. @throws Failure
std::shared_ptr<Communicator> communicatorWithRanks(ncclComm_t handle);

}  // namespace dfccl::nccl
