#include "world/defaults.hpp"

#include <algorithm>
#include <thread>

namespace dfccl {
namespace {

uint32_t cores() { return std::max(1u, std::thread::hardware_concurrency()); }

/// Blocks of each rank's daemon.
uint32_t defaultGrid(BackendKind backend, uint32_t ranks, Span span) {
  // 16 that move data, and the one that takes requests in.
  if (backend == BackendKind::cuda) return 17;
  // All ranks have as many blocks, and machines don't have as many cores.
  if (span == Span::machines) return 1;
  return std::max(1u, cores() / std::max(1u, ranks));
}

TileSizes defaultTiles(BackendKind backend) {
  if (backend == BackendKind::cpu) return {.slotPayloadBytes = 32 << 10, .directTileBytes = 64 << 10};
  // Longer slices than on a CPU: a block moves ten gigabytes a second, and between two slices nothing. All workers have
  // the same number of pieces of one, as many at once as they read (cuda/device/plain_moves.cuh).
  constexpr uint64_t kAtOnce = uint64_t{448} * 8 * 16;
  return {.slotPayloadBytes = 128 << 10, .directTileBytes = 73 * kAtOnce, .directTurnBytes = 1 << 20};
}

}  // namespace

uint32_t defaultTasks(BackendKind backend, uint32_t collectives) {
  return backend == BackendKind::cuda ? 8192 : 2 * collectives;
}

scheduling::SchedulePolicy defaultPolicy(BackendKind backend) {
  using namespace scheduling;
  const bool onGpu = backend == BackendKind::cuda;
  SchedulePolicy policy{};
  policy.version = kSchedulePolicyVersion;
  policy.order = {.kind = OrderKind::priority,
                  .reserved = {},
                  // On a GPU a poll costs less than a visit of another task, and what finds an empty queue is over
                  // soonest: a queue is emptied first, unless all in it are stuck.
                  .fetchEveryVisits = onGpu ? 64u : 1u,
                  .fetchWhenStuckVisits = 1,
                  .fetchBatch = 256,
                  .fetchesPerLap = 1024};
  // A poll of a CPU is a visit of a thread that has other ranks to step, often the very rank that is waited for:
  // sticking to a task for long only keeps that thread from it. Measured: more than a few visits slow random orders
  // down.
  policy.stickiness = {.kind = StickinessKind::adaptive,
                       .reserved = {},
                       .initialThreshold = onGpu ? 2u : 1u,
                       .minimumThreshold = 1,
                       .maximumThreshold = onGpu ? 32u : 8u,
                       .perPositionDecrement = 0,
                       .raiseFactor256ths = 512};
  policy.quit = {.kind = QuitKind::voluntary,
                 .reserved = {},
                 .idleVisits = onGpu ? 64u : 16u,
                 .idleTicks = 200'000,
                 .residencyTicks = onGpu ? 4'000'000u : 3'000'000u};
  return policy;
}

scheduling::SchedulePolicy inOrderPolicy(BackendKind backend, uint32_t streams) {
  using namespace scheduling;
  SchedulePolicy policy = defaultPolicy(backend);
  policy.order.kind = OrderKind::fifo;
  policy.stickiness.kind = StickinessKind::fixed;
  policy.quit.kind = QuitKind::whenEmpty;
  policy.quit.idleTicks = policy.quit.residencyTicks = 0;
  policy.streams = streams;
  return policy;
}

WorldOptions defaultOptions(BackendKind backend, uint32_t ranks, Span span) {
  const bool onGpu = backend == BackendKind::cuda;
  WorldOptions o;
  o.backend = backend;
  // What a GPU's daemon looks up lies in its shared memory, which bounds the tables.
  const uint32_t slots = onGpu ? 1024 : 4096;
  o.limits = {.grid = defaultGrid(backend, ranks, span),
              .submissionSlots = slots,
              .completionSlots = slots,
              .collectives = slots,
              .tasks = defaultTasks(backend, slots)};
  o.policy = defaultPolicy(backend);
  o.tiles = defaultTiles(backend);
  // Between processes on CPUs this is address space only, touched as it is used.
  o.arenaBytes = span != Span::process && !onGpu ? size_t{64} << 30 : size_t{1} << 30;
  o.workers = span == Span::process ? std::max(1u, cores() - 1) : 1;
  return o;
}

}  // namespace dfccl
