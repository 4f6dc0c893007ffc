#include "nccl_api/making.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "nccl_api/entry.hpp"

namespace dfccl::nccl {
namespace {

/// The members of a split's part: by key, and among equal ones by their rank before. @return their ranks before.
std::vector<int> membersOf(const std::vector<Arrival>& all, int color) {
  std::vector<int> members;
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r].color == color) members.push_back(static_cast<int>(r));
  }
  std::stable_sort(members.begin(), members.end(),
                   [&](int a, int b) { return all[static_cast<size_t>(a)].key < all[static_cast<size_t>(b)].key; });
  return members;
}

}  // namespace

void Making::make() {
  static const Atomic<uint32_t> never;
  const Atomic<uint32_t>& isCancelled = made ? made->isCancelled : never;
  Universes& universes = Universes::here();
  Universes::Told told = universes.tell();
  told.arrival.color = color;
  told.arrival.key = key;
  if (made) {
    told.arrival.device = made->device;
    told.arrival.mostBlocks = made->config.mostBlocks;
  }
  const std::vector<Arrival> all = meet(meeting, ranks, rank, told.arrival, isCancelled);
  if (!parent) return made->become(meeting, rank, universes.place(meeting, told, all, rank));
  if (!made) return;
  Placed placed{parent->universe(), {}};
  int place = 0;
  for (const int member : membersOf(all, color)) {
    if (member == rank) place = static_cast<int>(placed.ranks.size());
    placed.ranks.push_back(parent->members()[static_cast<size_t>(member)]);
  }
  made->become(meeting.derived(static_cast<uint64_t>(color)), place, std::move(placed));
}

ncclResult_t Making::run() noexcept {
  const ncclResult_t result = entered(parent ? "ncclCommSplit" : "ncclCommInitRank", [this] {
    make();
    return ncclSuccess;
  });
  if (result == ncclSuccess || !made) return result;
  made->failed(result);
  if (!made->config.isBlocking) return result;  // the caller finds it out by the handle, and destroys that
  *given = nullptr;
  try {
    Communicators::remove(handle);
  } catch (const Failure&) {
    // Aborted meanwhile, in another thread.
  }
  return result;
}

}  // namespace dfccl::nccl
