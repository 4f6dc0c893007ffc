#pragma once
#include <ATen/ATen.h>

#include <atomic>
#include <compare>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "submission.hpp"

namespace dfccl_torch {

/// Receives on a CPU for which no sender was named. Messages are matched by who sends them, so there is a receive from
/// each rank, and the first that is over is taken. The others stay, and are given to whoever receives next what is
/// matched alike.
class AnySource {
 public:
  /// What two messages have in common that may be taken for each other.
  struct Key {
    at::ScalarType type;
    int64_t count;
    uint64_t tag;
    auto operator<=>(const Key&) const = default;
  };
  struct Arrival {
    int peer;
    at::Tensor buffer;
    Submission submission;
  };

  AnySource(std::shared_ptr<Group> group, int rank, int size) : group_(std::move(group)), rank_(rank), size_(size) {}

  /// What is outstanding from this rank, or has come from it.
  std::optional<Arrival> claim(const Key& key, int peer);
  /// What has come first, if anything has; begins receives where there are none.
  /// @throws DistBackendError where the group was given up.
  std::optional<Arrival> take(const Key& key);
  /// Whether receives are outstanding that nobody waits for.
  bool isWaiting();

 private:
  using FromPeer = std::map<int, Arrival>;  // [rank]

  void begin(const Key& key, FromPeer& receives);

  const std::shared_ptr<Group> group_;
  const int rank_;
  const int size_;
  std::atomic<bool> isUsed_{false};
  std::mutex mutex_;
  std::map<Key, FromPeer> receives_;
};

}  // namespace dfccl_torch
