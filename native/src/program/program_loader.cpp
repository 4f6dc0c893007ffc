#include "program/program_loader.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "daemon/framing/protocols.hpp"
#include "program/program_check.hpp"

namespace dfccl {
namespace {

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  template <class T>
  T read() {
    if (bytes_.size() - at_ < sizeof(T)) refuseProgram("it ends early", at_);
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  template <class T>
  std::vector<T> readMany(uint64_t count, const char* what) {
    if (count > kMaxRecords || (bytes_.size() - at_) / sizeof(T) < count)
      refuseProgram(std::string("too few bytes for its ") + what, at_);
    std::vector<T> values(count);
    if (count != 0) std::memcpy(values.data(), bytes_.data() + at_, count * sizeof(T));
    at_ += count * sizeof(T);
    return values;
  }
  size_t at() const { return at_; }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

/// A program and the memory of its tables.
struct OwnedProgram : BoundProgram {
  std::vector<BlockRecord> blockTable;
  std::vector<ConnectionRecord> connectionTable;
  std::vector<StepRecord> stepTable;
  std::vector<BoundRef> refTable;
  std::vector<DependencyRecord> dependencyTable;
  std::vector<ChunkRange> chunkTable;
};

/// Whether each block is done with one thing before it begins another. One that does several by turns uses their links
/// by turns, and others may wait for its tiles.
bool isOneThing(const OwnedProgram& p) {
  if (p.header.connectionCount != 0 || p.header.dependencyCount != 0) return false;
  if ((p.header.flags & kStepByStep) != 0) return true;
  return std::all_of(p.blockTable.begin(), p.blockTable.end(), [](const BlockRecord& b) { return b.stepCount <= 1; });
}

void cutIntoTiles(OwnedProgram& p, const TileSizes& sizes) {
  const uint64_t perSegment = p.header.chunksPerSegment;
  const uint64_t bytes = p.elementBytes();
  p.chunkElements = (p.count + perSegment - 1) / perSegment;
  const uint64_t slotted = p.header.maxStepCount;
  uint64_t tileBytes = sizes.directTileBytes;
  if (!isOneThing(p)) tileBytes = std::min(tileBytes, sizes.directTurnBytes);
  const bool framed = isFramed(static_cast<Protocol>(p.header.protocol));
  const uint64_t slotBytes =
      framed ? std::min(sizes.slotPayloadBytes, sizes.framedPayloadBytes) : sizes.slotPayloadBytes;
  if (slotted != 0) tileBytes = std::min(tileBytes, slotBytes / slotted);
  uint64_t tile = tileBytes / bytes;
  // Tiles of whole 64-byte lines keep vector accesses aligned where the buffer is.
  if (tile > 64) tile -= tile % 64;
  p.tileElements = std::max<uint64_t>(1, std::min(tile, p.chunkElements));
  p.tiles = static_cast<uint32_t>(std::max<uint64_t>(1, (p.chunkElements + p.tileElements - 1) / p.tileElements));
  p.slotPayloadBytes = p.tileElements * bytes * slotted;
  if (framed && p.slotPayloadBytes > sizes.framedPayloadBytes) {
    refuseProgram("one element of each of its " + std::to_string(slotted) + " chunks is more than the " +
                      std::to_string(sizes.framedPayloadBytes) + " bytes that a message of its protocol may have here",
                  offsetof(ProgramHeader, maxStepCount));
  }
  p.scratchBytes = p.header.scratchChunks * p.chunkElements * bytes;
  const uint64_t segments = std::max(p.header.inputSegments, p.header.outputSegments);
  p.chunkTable.resize(segments * perSegment);
  for (uint64_t c = 0; c < p.chunkTable.size(); ++c) {
    const uint64_t begin = std::min(p.count, c % perSegment * p.chunkElements);
    const uint64_t end = std::min(p.count, begin + p.chunkElements);
    p.chunkTable[c] = {(c / perSegment * p.count + begin) * bytes, end - begin};
  }
  p.chunks = arrayOf(std::as_const(p.chunkTable));
}

bool touchesPeers(const BoundProgram& p) {
  for (const StepRecord& s : p.steps) {
    if (s.flags & kDirectSend) return true;
    if (static_cast<Op>(s.op) != Op::multiReduceCopy) continue;
    for (uint32_t i = s.firstRef; i < s.firstRef + s.sourceCount + s.destinationCount; ++i) {
      if (p.refs[i].rank != p.header.rank) return true;
    }
  }
  return false;
}

/// Whether the program is an exchange, as program.hpp says.
bool isExchange(const BoundProgram& p) {
  if (static_cast<Protocol>(p.header.protocol) != Protocol::ll || !p.connections.empty()) return false;
  if (p.header.inputSegments != 1 || p.header.outputSegments != 1) return false;
  for (const StepRecord& s : p.steps) {
    if (static_cast<Op>(s.op) != Op::multiReduceCopy || s.count != 1) return false;
    if (s.sourceCount != p.header.rankCount || s.destinationCount != 1) return false;
    const BoundRef* refs = p.refs.data() + s.firstRef;
    for (uint32_t r = 0; r < s.sourceCount; ++r) {
      if (refs[r].rank != r || static_cast<BufferKind>(refs[r].buffer) != BufferKind::input) return false;
      if (refs[r].chunk != refs[0].chunk) return false;
    }
    const BoundRef& result = refs[s.sourceCount];
    if (result.rank != p.header.rank || static_cast<BufferKind>(result.buffer) != BufferKind::output) return false;
    if (result.chunk != refs[0].chunk || (s.flags & kFinish) == 0) return false;
  }
  return !p.steps.empty();
}

/// Bytes that the steps move, if all are reads and writes of known places that need no order among the ranks.
uint64_t togetherBytes(const BoundProgram& p) {
  if (!p.usesDirect() || p.header.blockCount != 1 || p.tiles != 1 || !p.connections.empty()) return kNeverTogether;
  uint64_t bytes = 0;
  for (const StepRecord& s : p.steps) {
    if (static_cast<Op>(s.op) != Op::multiReduceCopy || s.dependencyCount != 0) return kNeverTogether;
    for (uint32_t i = s.firstRef; i < s.firstRef + s.sourceCount + s.destinationCount; ++i) {
      for (uint32_t chunk = 0; chunk < s.count; ++chunk) {
        bytes +=
            p.range(static_cast<BufferKind>(p.refs[i].buffer), p.refs[i].chunk + chunk).elements * p.elementBytes();
      }
    }
  }
  return bytes < kNeverTogether ? bytes : kNeverTogether;
}

}  // namespace

std::shared_ptr<const BoundProgram> loadProgram(std::span<const uint8_t> bytes, DataType type, uint64_t count,
                                                const TileSizes& sizes) {
  Reader reader(bytes);
  auto program = std::make_shared<OwnedProgram>();
  program->header = reader.read<ProgramHeader>();
  const ProgramHeader& h = program->header;
  checkHeader(h, bytes.size());
  program->type = type;
  program->count = count;
  program->blockTable = reader.readMany<BlockRecord>(h.blockCount, "blocks");
  program->connectionTable = reader.readMany<ConnectionRecord>(h.connectionCount, "connections");
  program->stepTable = reader.readMany<StepRecord>(h.stepCount, "steps");
  for (const ChunkRefRecord& ref : reader.readMany<ChunkRefRecord>(h.refCount, "references")) {
    program->refTable.push_back({ref.rank, ref.buffer, ref.chunk});
  }
  program->dependencyTable = reader.readMany<DependencyRecord>(h.dependencyCount, "dependencies");
  program->blocks = arrayOf(std::as_const(program->blockTable));
  program->connections = arrayOf(std::as_const(program->connectionTable));
  program->steps = arrayOf(std::as_const(program->stepTable));
  program->refs = arrayOf(std::as_const(program->refTable));
  program->dependencies = arrayOf(std::as_const(program->dependencyTable));
  if (reader.at() != bytes.size()) refuseProgram("it has bytes left over", reader.at());
  checkTables(*program);
  cutIntoTiles(*program, sizes);
  program->exchanges = isExchange(*program);
  if (program->exchanges) {
    const uint64_t tileBytes = program->tileElements * program->elementBytes();
    program->landingSlotBytes = static_cast<uint32_t>((wireBytes(Protocol::ll, tileBytes) + 127) / 128 * 128);
  }
  program->touchesPeers = !program->exchanges && touchesPeers(*program);
  program->togetherBytes = togetherBytes(*program);
  return program;
}

}  // namespace dfccl
