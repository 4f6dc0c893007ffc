// How programs are cut into tiles, where memory bounds the messages of protocols that are packed.
#include "program/program_loader.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "../daemon/support/programs.hpp"
#include "base/error.hpp"
#include "daemon/movers/task_slice.hpp"
#include "world/builtin_programs.hpp"
#include "world/large_programs.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr TileSizes kBounded{.slotPayloadBytes = 128 << 10, .framedPayloadBytes = 64 << 10, .directTileBytes = 1 << 20};

/// Rank 0 of two sends its input, in steps of so many chunks.
std::vector<uint8_t> sender(Protocol protocol, uint32_t chunks) {
  ProgramWriter w(Collective::custom, protocol, 2, 0, 1);
  w.header.chunksPerSegment = w.header.maxStepCount = chunks;
  StepRecord step = ProgramWriter::step(Op::send);
  ProgramWriter::from(step, BufferKind::input, 0);
  step.count = chunks;
  step.sendConnection = w.sendTo(0, 1);
  w.add(0, step);
  return w.encode();
}

uint64_t payloadOf(Protocol protocol, uint32_t chunks) {
  return loadProgram(sender(protocol, chunks), DataType::float32, uint64_t{chunks} << 20, kBounded)->slotPayloadBytes;
}

/// Rank 0 of one copies its input, half of it in each of two blocks.
ProgramWriter copier() {
  ProgramWriter w(Collective::custom, Protocol::simple, 1, 0, 2);
  w.header.chunksPerSegment = 2;
  for (uint32_t block = 0; block < 2; ++block) {
    StepRecord step = ProgramWriter::step(Op::copy);
    ProgramWriter::from(step, BufferKind::input, block);
    ProgramWriter::to(step, BufferKind::output, block);
    w.add(block, step);
  }
  return w;
}

void load(const std::vector<uint8_t>& program) { loadProgram(program, DataType::float32, 1 << 20, kBounded); }

}  // namespace

TEST_CASE("a slot of a packed protocol carries no more than what it is packed from holds") {
  CHECK(payloadOf(Protocol::simple, 1) == kBounded.slotPayloadBytes);
  for (const Protocol protocol : everyProtocol()) {
    if (!isFramed(protocol)) continue;
    CHECK(payloadOf(protocol, 1) == kBounded.framedPayloadBytes);
    CHECK(payloadOf(protocol, 3) <= kBounded.framedPayloadBytes);
  }
}

TEST_CASE("a block that does several things by turns has shorter slices") {
  constexpr TileSizes kSizes{.directTileBytes = 4096, .directTurnBytes = 1024};
  const auto tileOf = [&](const std::vector<uint8_t>& program) {
    return loadProgram(program, DataType::int8, 1 << 20, kSizes)->tileElements;
  };
  CHECK(tileOf(buildDirectProgram(Collective::allGather, 3, 0, kNone, 2)) == 4096);
  CHECK(tileOf(buildDirectProgram(Collective::allToAll, 3, 0, kNone, 2)) == 1024);
  // One step after the other.
  CHECK(tileOf(buildLargeProgram(Collective::allReduce, 3, 0, kNone, 2)) == 4096);
}

TEST_CASE("a message of more chunks than that has room for, at an element each, is refused") {
  constexpr uint32_t kMost = kBounded.framedPayloadBytes / sizeof(float);
  CHECK(payloadOf(Protocol::ll, kMost) == kBounded.framedPayloadBytes);
  CHECK_THROWS_AS(payloadOf(Protocol::ll, kMost + 1), Error);
  CHECK(payloadOf(Protocol::simple, kMost + 1) > kBounded.framedPayloadBytes);
}

TEST_CASE("a step of as many sources or destinations as the engine has room for is loaded, and of one more refused") {
  const auto load = [](uint32_t sources, uint32_t destinations) {
    ProgramWriter w(Collective::custom, Protocol::simple, std::max(sources, destinations), 0, 1);
    w.header.flags |= kUsesDirect;
    w.header.chunksPerSegment = 1;
    std::vector<ChunkRefRecord> from, to;
    for (uint32_t r = 0; r < sources; ++r) from.push_back({r, static_cast<uint32_t>(BufferKind::input), 0, 0});
    for (uint32_t r = 0; r < destinations; ++r) to.push_back({r, static_cast<uint32_t>(BufferKind::output), 0, 0});
    w.addMulti(0, ProgramWriter::step(Op::multiReduceCopy), from, to);
    return loadProgram(w.encode(), DataType::float32, 16, kBounded);
  };
  CHECK_NOTHROW(load(kMaxStepRefs, kMaxStepRefs));
  CHECK_THROWS_AS(load(kMaxStepRefs + 1, 1), Error);
  CHECK_THROWS_AS(load(1, kMaxStepRefs + 1), Error);
}

TEST_CASE("what goes step by step waits for nobody: with connections or dependencies it is refused") {
  ProgramWriter free = copier();
  free.header.flags |= kStepByStep;
  CHECK_NOTHROW(load(free.encode()));

  std::vector<uint8_t> connected = sender(Protocol::simple, 1);
  CHECK_NOTHROW(load(connected));
  reinterpret_cast<ProgramHeader*>(connected.data())->flags |= kStepByStep;
  CHECK_THROWS_AS(load(connected), Error);

  ProgramWriter dependent = copier();
  dependent.await(1, 0, 0);
  CHECK_NOTHROW(load(dependent.encode()));
  dependent.header.flags |= kStepByStep;
  CHECK_THROWS_AS(load(dependent.encode()), Error);
}
