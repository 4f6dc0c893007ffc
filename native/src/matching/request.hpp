#pragma once
// What a caller holds of a run: whether it is over, and whom to call then.
#include <cstdint>
#include <memory>

#include "base/atomics.hpp"
#include "dfccl/status.h"
#include "matching/handle_slab.hpp"
#include "matching/staging_pool.hpp"

namespace dfccl {

struct MatchedCollective;
struct Request;

/// One run of the engine's that a request consists of.
struct RequestPart {
  Request* requests[2] = {};  // that end with it: two where a rank sends to itself
  StagingPool* pool = nullptr;
  Staged staged[2];        // copies of buffers, which are given back
  void* copyTo = nullptr;  // what was received into a copy goes there
  const void* copyFrom = nullptr;
  uint64_t copyBytes = 0;
};

struct Request : InSlab<Request> {
  using Callback = void (*)(void* argument, dfcclResult_t status);

  void* context = nullptr;                 // of whoever made it: who is to be helped while it is waited for
  RequestPart part;                        // where there is one ...
  std::unique_ptr<RequestPart[]> parts;    // ... or several
  MatchedCollective* waitedFor = nullptr;  // of the part, where streams may wait for it: its collective ...
  uint64_t number = 0;                     // ... and how many runs of it this rank had submitted with it

  /// @param parts of it. @param holders 2: the engine and the caller; 1: the engine alone.
  /// @throws Error dfcclOutOfMemory
  static Request& make(uint32_t parts, uint32_t holders, void* context);
  /// @return nullptr: not a handle, or not any more.
  static Request* find(uint64_t handle);
  /// @pre nothing of it was submitted.
  void drop();

  RequestPart& partAt(uint32_t i) { return parts ? parts[i] : part; }
  bool isOver() const { return (state_.load(order::acquire) & kOver) != 0; }
  dfcclResult_t status() const { return isAborted_.load(order::relaxed) != 0 ? dfcclAborted : dfcclSuccess; }
  /// Calls back once, at once where it is over. @return false: it has a callback already.
  bool notify(Callback to, void* with);
  /// Another part is over. With the last, the request is.
  void partIsOver(dfcclResult_t status);
  /// Of the parts only so many were submitted. @pre fewer than there are
  void onlySubmitted(uint32_t parts);
  /// The caller's hold on it ends, and its handle. @return false: it had ended already.
  bool endHandle(uint64_t itsHandle);

 private:
  static constexpr uint32_t kOver = 1, kNotifies = 2;

  void partsAreOver(uint32_t parts);
  /// The engine, or the caller, doesn't need it any more. With the last of both it is gone.
  void letGo();

  uint32_t partCount_ = 0;
  Atomic<uint32_t> partsLeft_;
  Atomic<uint32_t> isAborted_;
  Atomic<uint32_t> state_;  // bits: kOver, kNotifies
  Atomic<uint32_t> holders_;
  Callback callback_ = nullptr;
  void* argument_ = nullptr;
};

}  // namespace dfccl
