// Counts that a program of the caller's own can be registered with: of unequal chunks, none may go where there is less
// room.
#include "world/program_check.hpp"

#include <doctest/doctest.h>

#include "../daemon/support/programs.hpp"
#include "base/error.hpp"
#include "program/program_loader.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr uint32_t kChunks = 4;

/// Rank 0 of two, with a step that the test adds.
ProgramWriter writer() {
  ProgramWriter w(Collective::custom, Protocol::simple, 2, 0, 1);
  w.header.flags |= kUsesDirect;
  w.header.chunksPerSegment = w.header.scratchChunks = kChunks;
  w.header.inputSegments = w.header.outputSegments = 2;
  return w;
}

ChunkRefRecord at(BufferKind buffer, uint32_t chunk, uint32_t rank = 0) {
  return {rank, static_cast<uint32_t>(buffer), chunk, 0};
}

std::vector<uint8_t> copying(const ChunkRefRecord& from, const ChunkRefRecord& to, uint32_t chunks = 1) {
  ProgramWriter w = writer();
  w.header.maxStepCount = 0;
  StepRecord step = ProgramWriter::step(Op::multiReduceCopy);
  step.count = chunks;
  w.addMulti(0, step, {from}, {to});
  return w.encode();
}

std::vector<uint8_t> sending() {
  ProgramWriter w = writer();
  StepRecord step = ProgramWriter::step(Op::send);
  ProgramWriter::from(step, BufferKind::input, 0);
  step.sendConnection = w.sendTo(0, 1);
  w.add(0, step);
  return w.encode();
}

void check(const std::vector<uint8_t>& program, uint64_t count) {
  CollectiveSpec spec;
  spec.collective = Collective::custom;
  spec.count = count;
  spec.ranks = {0, 1};
  checkProgram(*loadProgram(program, DataType::float32, count, TileSizes{}), spec, 0);
}

/// A count that is a multiple of the chunks is always right.
void checkIsRefused(const std::vector<uint8_t>& program) {
  CHECK_NOTHROW(check(program, 5 * kChunks));
  for (const uint64_t count : {1, 5 * static_cast<int>(kChunks) - 1}) {
    CAPTURE(count);
    CHECK_THROWS_AS(check(program, count), Error);
  }
}

}  // namespace

TEST_CASE("where every chunk keeps its place within a segment, any count is right") {
  for (const uint64_t count : {1, 2, 7, 19, 20}) {
    CHECK_NOTHROW(check(copying(at(BufferKind::input, 3), at(BufferKind::output, 3 + kChunks, 1)), count));
    CHECK_NOTHROW(check(copying(at(BufferKind::input, kChunks), at(BufferKind::output, 0, 1), kChunks), count));
  }
}

TEST_CASE("a chunk that goes to another place must be as long as that, so only multiples of the chunks are right") {
  checkIsRefused(copying(at(BufferKind::input, 3), at(BufferKind::output, 0, 1)));
  checkIsRefused(copying(at(BufferKind::input, 0), at(BufferKind::output, kChunks + 1)));
}

TEST_CASE("of what goes through scratch or a connection, one rank's program doesn't tell where it ends") {
  checkIsRefused(copying(at(BufferKind::input, 3), at(BufferKind::scratch, 3)));
  checkIsRefused(sending());
}
