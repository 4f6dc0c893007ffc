#include "matching/buffer_copies.hpp"

#include <algorithm>
#include <cstring>

#include "world/ring_programs.hpp"

namespace dfccl {

void bringIntoReach(StagingPool& pool, const MatchedCollective& entry, const void*& send, void*& recv,
                    RequestPart& part) {
  const RunShape& shape = entry.shape;
  const auto from = reinterpret_cast<uint64_t>(send), to = reinterpret_cast<uint64_t>(recv);
  const bool usesBoth = shape.sendBytes != 0 && shape.recvBytes != 0;
  const bool overlaps = usesBoth && from < to + shape.recvBytes && to < from + shape.sendBytes;
  part.pool = &pool;
  part.registration = entry.registration;
  if (shape.rings != nullptr) {
    if (shape.rings->ringBytes != 0) part.staged[0] = pool.take(shape.rings->ringBytes);
    if (!entry.isReached(send, shape.sendBytes)) shape.rings->fillBefore(send, part.staged[0].memory);
    return;
  }
  const auto copyOut = [&](void* copy) {
    part.copyTo = recv;
    part.copyFrom = copy;
    part.copyBytes = shape.recvBytes;
    recv = copy;
  };
  if (overlaps) {
    if (entry.isReached(send, shape.sendBytes) && entry.isReached(recv, shape.recvBytes)) return;
    const uint64_t begin = std::min(from, to);
    part.staged[0] = pool.take(std::max(from + shape.sendBytes, to + shape.recvBytes) - begin);
    auto* const copy = static_cast<uint8_t*>(part.staged[0].memory);
    std::memcpy(copy + (from - begin), send, shape.sendBytes);
    send = copy + (from - begin);
    return copyOut(copy + (to - begin));
  }
  if (!entry.isReached(send, shape.sendBytes)) {
    part.staged[0] = pool.take(shape.sendBytes);
    std::memcpy(part.staged[0].memory, send, shape.sendBytes);
    send = part.staged[0].memory;
  }
  if (!entry.isReached(recv, shape.recvBytes)) {
    part.staged[1] = pool.take(shape.recvBytes);
    copyOut(part.staged[1].memory);
  }
}

}  // namespace dfccl
