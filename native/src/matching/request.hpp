#pragma once
// What a caller holds of a run: whether it is over, and whom to call then.
#include <cstdint>
#include <memory>
#include <span>

#include "base/atomics.hpp"
#include "dfccl/status.h"
#include "matching/handle_slab.hpp"
#include "matching/staging_pool.hpp"
#include "world/captured_place.hpp"
#include "world/collective_id.hpp"
#include "world/place_in_stream.hpp"

namespace dfccl {

class Matching;
struct Request;

/// One run of the engine's that a request consists of.
struct RequestPart {
  static constexpr size_t kMostRequests = 4;

  Request* requests[kMostRequests] = {};  // that end with it, from the front: of a batch, of an operation in it; and
                                          // of both halves where a rank sends to itself
  const void* context = nullptr;          // handle of the rank that is to be helped while it is waited for
  StagingPool* pool = nullptr;
  Staged staged[2];        // copies of buffers, or a ring; they are given back
  void* copyTo = nullptr;  // what was received into a copy goes there
  const void* copyFrom = nullptr;
  uint64_t copyBytes = 0;
  uint64_t registration = 0;         // of the collective's, which one; 0: none yet, of half a message
  RequestPart* otherHalf = nullptr;  // of a message to itself: came first, and ends with it
  // Where streams may wait for it. This one is stored last: of a first half that is when the other one comes.
  Atomic<Matching*> matching;
  CollectiveId collective;
  uint64_t number = 0;     // how many runs of it this rank had submitted with it
  PlaceInStream inStream;  // or, where it is a kernel in its stream
  CapturedPlace captured;  // or, of a graph's: it is over as soon as it is captured
  Atomic<uint32_t> isOver_;

  /// Streams may wait for it from now on, and for its other half. @pre all that they need is noted
  void letStreamsWait(Matching* by);
  /// Another request ends with it. @pre fewer than kMostRequests do
  void add(Request* request);
  void giveBackCopies();
  /// The run was given up, and others may still touch them.
  void setCopiesAside();
  bool isOver() const { return isOver_.load(order::acquire) != 0; }
  /// It is over: what was received is put where it belongs. It is gone with the last of its requests.
  void end(dfcclResult_t status);
};

struct Request : InSlab<Request> {
  using Callback = void (*)(void* argument, dfcclResult_t status);

  /// @param parts of it. @param holders 2: the engine and the caller; 1: the engine alone.
  /// @throws Error dfcclOutOfMemory
  static Request& make(uint32_t parts, uint32_t holders, const void* context);
  /// One that ends with some parts of another, which stays until this is gone.
  static Request& makeWithin(Request& whole, uint32_t firstPart, uint32_t parts);
  /// @return nullptr: not a handle, or not any more.
  static Request* find(uint64_t handle);
  /// @pre nothing of it was submitted.
  void drop();

  std::span<RequestPart> parts() const { return {first_, partCount_}; }
  /// Whether it is of runs that a graph carries out.
  bool isCaptured() const { return partCount_ != 0 && first_->captured.node != nullptr; }
  bool isOver() const { return (state_.load(order::acquire) & kOver) != 0; }
  /// It is over and its callback has returned, if it has one; to who asks within any callback, that it is over.
  bool isSettled() const {
    const uint32_t state = state_.load(order::acquire);
    if ((state & kOver) == 0) return false;
    return (state & kNotifies) == 0 || (state & kReturned) != 0 || isInCallback();
  }
  dfcclResult_t status() const { return isAborted_.load(order::relaxed) != 0 ? dfcclAborted : dfcclSuccess; }
  /// Calls back once, at once where it is over. @return false: it has a callback already.
  bool notify(Callback to, void* with);
  /// Another part is over. With the last, the request is; one without parts is with the first.
  void partIsOver(dfcclResult_t status);
  /// The same in two steps: who asks sees that it is over after the first, and the user is called in the second.
  enum class Ending { notYet, quiet, callsBack };
  Ending endPart(dfcclResult_t status);
  /// @pre endPart() said so, and it wasn't notYet
  void tellEnd(Ending ending);
  /// The caller's hold on it ends, and its handle. @return false: it had ended already.
  bool endHandle(uint64_t itsHandle);

 private:
  static constexpr uint32_t kOver = 1, kNotifies = 2, kReturned = 4, kClaimed = 8;

  static Request& begin(uint32_t parts, uint32_t holders);
  /// The engine, the caller, or one within it doesn't need it any more. With the last of them it is gone.
  void letGo();
  /// @pre it is over, nobody else calls, and somebody holds it.
  void callBack();
  /// Whether this thread is in a callback, which must not wait for another that may wait for it.
  static bool isInCallback();

  RequestPart own_;                         // where it has one ...
  std::unique_ptr<RequestPart[]> several_;  // ... or several
  Request* whole_ = nullptr;                // ... or some of another's
  RequestPart* first_ = nullptr;
  uint32_t partCount_ = 0;
  Atomic<uint32_t> partsLeft_;
  Atomic<uint32_t> isAborted_;
  // Bits: kOver, kClaimed (somebody gives it a callback), kNotifies (it has one), kReturned (from which it is back)
  Atomic<uint32_t> state_;
  Atomic<uint32_t> holders_;
  Callback callback_ = nullptr;
  void* argument_ = nullptr;
};

}  // namespace dfccl
