// Memory that runs are given where ranks don't reach their buffers: used again, but not too early.
#include "matching/staging_pool.hpp"

#include <doctest/doctest.h>

#include "cpu/cpu_world.hpp"
#include "matching/request.hpp"
#include "world/defaults.hpp"

using namespace dfccl;

namespace {

WorldOptions smallWorld() {
  WorldOptions options = defaultOptions(BackendKind::cpu);
  options.ranks = 1;
  options.workers = 0;
  options.arenaBytes = size_t{1} << 20;
  return options;
}

struct Pool {
  CpuWorld world{smallWorld()};
  StagingPool pool{world, 0};

  /// A run that has had a piece is over. @return the piece.
  void* end(uint64_t registration, dfcclResult_t status) {
    RequestPart part;
    part.pool = &pool;
    part.registration = registration;
    part.staged[0] = pool.take(5000);
    void* const memory = part.staged[0].memory;
    part.end(status);
    CHECK(part.staged[0].memory == nullptr);
    return memory;
  }
  /// What the next run gets.
  void* next() {
    Staged piece = pool.take(5000);
    void* const memory = piece.memory;
    pool.giveBack(piece);
    return memory;
  }
};

}  // namespace

TEST_CASE("what a run has had is the next one's") {
  Pool p;
  CHECK(p.end(1, dfcclSuccess) == p.next());
}

TEST_CASE("what a run has had that was given up is nobody's until its registration's quarantine is over") {
  Pool p;
  void* const first = p.end(1, dfcclAborted);
  void* const second = p.end(2, dfcclAborted);
  CHECK(first != second);
  void* const third = p.next();
  CHECK(third != first);
  CHECK(third != second);
  p.pool.freeUnused();
  CHECK(p.next() != first);
  CHECK(p.pool.hasAside());
  p.pool.endQuarantine(3);
  p.pool.endQuarantine(2);
  CHECK(p.next() == second);
  p.pool.endQuarantine(1);
  CHECK_FALSE(p.pool.hasAside());
  // Of a run whose end comes late, when nobody knows its registration any more.
  CHECK(p.end(1, dfcclAborted) == p.next());
  CHECK_FALSE(p.pool.hasAside());
}
