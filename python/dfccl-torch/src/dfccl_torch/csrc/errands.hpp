#pragma once
#include <chrono>
#include <compare>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

namespace dfccl_torch {

using Errand = std::function<void()>;

/// Does this on a thread of ours, one after the other. The engine's threads hand over here what may take Python's lock
/// (callbacks of futures, the last reference to a tensor) or destroy a context, and never wait for either.
///
/// What an errand asks for itself, and may wait for, is done on another thread, which those have in common. Where an
/// errand takes seconds all the same, as one does that waits for what comes behind it, another thread goes on with the
/// rest.
void runSoon(Errand errand);

/// Errands of one order are done in the order in which their places were taken.
struct ErrandOrder {
  const void* group;
  std::thread::id thread;
  auto operator<=>(const ErrandOrder&) const = default;
};

/// An errand that is to come: taken where it is asked for, filled when it can be done.
class ErrandPlace {
 public:
  /// Of the calling thread. @param order none: it waits for no other errand
  explicit ErrandPlace(const std::optional<ErrandOrder>& order);
  /// Lets those behind it pass, if it is not filled.
  ~ErrandPlace();
  ErrandPlace(const ErrandPlace&) = delete;
  ErrandPlace& operator=(const ErrandPlace&) = delete;

  /// May be done from now on, after those before it in its order; but if one of those isn't filled for seconds, as on a
  /// rank that issues in an order of its own, without them.
  void fill(Errand errand);
  /// The same for what doesn't count, and waits for none of the order.
  void runBeside(Errand errand) const;
  /// Lets those behind it pass, now: what it is filled with later waits for none.
  void pass() const;

  struct Slot;

 private:
  const int line_;
  std::shared_ptr<Slot> slot_;
};

/// Before the interpreter ends: waits for the errands that are under way, and does none any more. Without Python's
/// lock.
/// @return false: they haven't ended in time.
bool endErrands(std::chrono::milliseconds limit);

}  // namespace dfccl_torch
