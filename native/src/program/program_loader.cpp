#include "program/program_loader.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "dfccl/daemon/connector.hpp"
#include "dfccl/daemon/interpreter.hpp"
#include "error.hpp"

namespace dfccl {
namespace {

// A program of more than this is a mistake or an attack, not a collective.
constexpr uint64_t kMaxRecords = 1 << 22;

[[noreturn]] void refuse(const std::string& what, size_t offset) {
  throw Error(dfcclInvalidProgram,
              "The program can't be loaded: " + what + " (at byte " + std::to_string(offset) + ").",
              "Encode it again with @dfccl/primitives' encodeProgram().",
              {{"offset", std::to_string(offset)}, {"reason", what}});
}

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  template <class T>
  T read() {
    if (bytes_.size() - at_ < sizeof(T)) refuse("it ends early", at_);
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  template <class T>
  std::vector<T> readMany(uint64_t count, const char* what) {
    if (count > kMaxRecords || (bytes_.size() - at_) / sizeof(T) < count)
      refuse(std::string("too few bytes for its ") + what, at_);
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

class Checker {
 public:
  explicit Checker(const BoundProgram& p) : p_(p), h_(p.header) {}

  void check() const {
    const size_t stepsAt = sizeof(ProgramHeader) + p_.blocks.size() * sizeof(BlockRecord) +
                           p_.connections.size() * sizeof(ConnectionRecord);
    for (size_t i = 0; i < p_.blocks.size(); ++i) {
      const BlockRecord& b = p_.blocks[i];
      if (uint64_t{b.firstStep} + b.stepCount > p_.steps.size()) {
        refuse("block " + std::to_string(i) + " has steps outside the table",
               sizeof(ProgramHeader) + i * sizeof(BlockRecord));
      }
    }
    for (size_t i = 0; i < p_.connections.size(); ++i) {
      const ConnectionRecord& c = p_.connections[i];
      const size_t at = sizeof(ProgramHeader) + p_.blocks.size() * sizeof(BlockRecord) + i * sizeof(ConnectionRecord);
      if (c.peer >= h_.rankCount || c.peer == h_.rank)
        refuse("connection " + std::to_string(i) + " has no such peer", at);
      if (c.isSend > 1 || c.block >= h_.blockCount) refuse("connection " + std::to_string(i) + " is malformed", at);
      for (size_t j = 0; j < i; ++j) {
        const ConnectionRecord& o = p_.connections[j];
        if (o.peer == c.peer && o.channel == c.channel && o.isSend == c.isSend)
          refuse("connection " + std::to_string(i) + " is listed twice", at);
      }
    }
    for (size_t b = 0; b < p_.blocks.size(); ++b) {
      for (uint32_t s = 0; s < p_.blocks[b].stepCount; ++s) {
        const uint32_t index = p_.blocks[b].firstStep + s;
        checkStep(p_.steps[index], static_cast<uint32_t>(b), stepsAt + index * sizeof(StepRecord));
      }
    }
  }

 private:
  uint64_t chunksIn(uint32_t buffer) const {
    switch (static_cast<BufferKind>(buffer)) {
      case BufferKind::input:
        return uint64_t{h_.inputSegments} * h_.chunksPerSegment;
      case BufferKind::output:
        return uint64_t{h_.outputSegments} * h_.chunksPerSegment;
      case BufferKind::scratch:
        return h_.scratchChunks;
      default:
        return 0;
    }
  }

  void checkRange(uint32_t buffer, uint64_t chunk, uint32_t count, const char* what, size_t at) const {
    if (buffer > 2) refuse(std::string("unknown ") + what + " buffer", at);
    if (chunk + count > chunksIn(buffer)) refuse(std::string(what) + " chunks outside the buffer", at);
  }

  void checkConnection(uint32_t index, uint32_t isSend, uint32_t block, size_t at) const {
    if (index >= p_.connections.size()) refuse("unknown connection", at);
    const ConnectionRecord& c = p_.connections[index];
    if (c.isSend != isSend) refuse("connection used in the wrong direction", at);
    if (c.block != block) refuse("connection belongs to another block", at);
  }

  void checkMayBeDirect(size_t at) const {
    if (!(h_.flags & kUsesDirect)) refuse("a direct step in a program that claims to have none", at);
  }

  void checkStep(const StepRecord& s, uint32_t block, size_t at) const {
    if (s.op >= kOpCount) refuse("unknown op " + std::to_string(s.op), at);
    const auto op = static_cast<Op>(s.op);
    const bool receives = op == Op::recv || op == Op::recvCopySend || op == Op::recvReduceCopy ||
                          op == Op::recvReduceSend || op == Op::recvReduceCopySend;
    const bool sends =
        op == Op::send || op == Op::recvCopySend || op == Op::recvReduceSend || op == Op::recvReduceCopySend;
    const bool readsLocal = op == Op::send || op == Op::copy || op == Op::reduce || op == Op::recvReduceCopy ||
                            op == Op::recvReduceSend || op == Op::recvReduceCopySend;
    const bool writesLocal = op == Op::recv || op == Op::copy || op == Op::reduce || op == Op::recvCopySend ||
                             op == Op::recvReduceCopy || op == Op::recvReduceCopySend;
    if (receives != (s.recvConnection != kNone) || sends != (s.sendConnection != kNone))
      refuse("op and connections disagree", at);
    if (receives) checkConnection(s.recvConnection, 0, block, at);
    if (sends) checkConnection(s.sendConnection, 1, block, at);
    if ((s.flags & ~(kDirectSend | kDirectRecv | kFinish)) != 0) refuse("unknown flags", at);
    if ((s.flags & kDirectSend) && !sends) refuse("direct send without a send", at);
    if ((s.flags & kDirectRecv) && !receives) refuse("direct receive without a receive", at);
    if (s.flags & (kDirectSend | kDirectRecv)) checkMayBeDirect(at);
    if (s.count != 0 && readsLocal) checkRange(s.srcBuffer, s.srcChunk, s.count, "source", at);
    if (s.count != 0 && writesLocal) checkRange(s.dstBuffer, s.dstChunk, s.count, "destination", at);
    if (s.count != 0 && (s.flags & kDirectSend)) checkRange(s.remoteBuffer, s.remoteChunk, s.count, "remote", at);
    if (s.count != 0 && (s.flags & kDirectRecv)) checkRange(s.landingBuffer, s.landingChunk, s.count, "landing", at);
    if ((sends || receives) && s.count > h_.maxStepCount && !(s.flags & (kDirectSend | kDirectRecv))) {
      refuse("more chunks than a slot holds", at);
    }
    if (op == Op::multiReduceCopy) {
      if (s.sourceCount == 0 || s.sourceCount > kMaxStepRefs || s.destinationCount == 0 ||
          s.destinationCount > kMaxStepRefs) {
        refuse("a multi-peer step takes 1 to " + std::to_string(kMaxStepRefs) + " sources and destinations", at);
      }
      const uint64_t refs = uint64_t{s.sourceCount} + s.destinationCount;
      if (s.firstRef + refs > p_.refs.size()) refuse("references outside the table", at);
      for (uint64_t i = s.firstRef; i < s.firstRef + refs; ++i) {
        if (p_.refs[i].rank >= h_.rankCount) refuse("reference to an unknown rank", at);
        if (p_.refs[i].rank != h_.rank) checkMayBeDirect(at);
        checkRange(p_.refs[i].buffer, p_.refs[i].chunk, s.count, "referenced", at);
      }
    }
    if (uint64_t{s.firstDependency} + s.dependencyCount > p_.dependencies.size())
      refuse("dependencies outside the table", at);
    for (uint32_t i = 0; i < s.dependencyCount; ++i) {
      const DependencyRecord& d = p_.dependencies[s.firstDependency + i];
      if (d.block >= p_.blocks.size() || d.step >= p_.blocks[d.block].stepCount)
        refuse("dependency on an unknown step", at);
      if (!p_.steps[p_.blocks[d.block].firstStep + d.step].isAwaited)
        refuse("dependency on a step that isn't marked as awaited", at);
    }
  }

  const BoundProgram& p_;
  const ProgramHeader& h_;
};

void checkHeader(const ProgramHeader& h, size_t bytes) {
  if (h.magic != kProgramMagic) refuse("it doesn't begin with DFCP", 0);
  if (h.version != kProgramVersion)
    refuse("version " + std::to_string(h.version) + " instead of " + std::to_string(kProgramVersion), 4);
  if (h.totalBytes != bytes)
    refuse("it says " + std::to_string(h.totalBytes) + " bytes and has " + std::to_string(bytes), 8);
  if (h.rankCount == 0 || h.rankCount > 65536 || h.rank >= h.rankCount) refuse("rank out of range", 16);
  if (h.collective >= kCollectiveCount) refuse("unknown collective", 24);
  if (h.protocol > 2) refuse("unknown protocol", 28);
  if (h.blockCount == 0 || h.blockCount > 1024) refuse("1 to 1024 blocks are allowed", 32);
  if (h.chunksPerSegment == 0 || h.chunksPerSegment > kMaxRecords) refuse("no chunks", 52);
  if (uint64_t{h.inputSegments} * h.chunksPerSegment > kMaxRecords ||
      uint64_t{h.outputSegments} * h.chunksPerSegment > kMaxRecords || h.scratchChunks > kMaxRecords) {
    refuse("too many chunks", 52);
  }
  if ((h.flags & kStepByStep) && (h.connectionCount != 0 || h.dependencyCount != 0)) {
    refuse("step by step, but its steps wait for others", 12);
  }
  if (h.connectionCount != 0 && (h.slotCount == 0 || h.slotCount > 1024)) refuse("1 to 1024 slots are allowed", 68);
  if (h.maxStepCount > kMaxRecords) refuse("a step of too many chunks", 72);
}

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
  const bool isFramed = static_cast<Protocol>(p.header.protocol) != Protocol::simple;
  const uint64_t slotBytes =
      isFramed ? std::min(sizes.slotPayloadBytes, sizes.framedPayloadBytes) : sizes.slotPayloadBytes;
  if (slotted != 0) tileBytes = std::min(tileBytes, slotBytes / slotted);
  uint64_t tile = tileBytes / bytes;
  // Tiles of whole 64-byte lines keep vector accesses aligned where the buffer is.
  if (tile > 64) tile -= tile % 64;
  p.tileElements = std::max<uint64_t>(1, std::min(tile, p.chunkElements));
  p.tiles = static_cast<uint32_t>(std::max<uint64_t>(1, (p.chunkElements + p.tileElements - 1) / p.tileElements));
  p.slotPayloadBytes = p.tileElements * bytes * slotted;
  if (isFramed && p.slotPayloadBytes > sizes.framedPayloadBytes) {
    refuse("one element of each of its " + std::to_string(slotted) + " chunks is more than the " +
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
  if (reader.at() != bytes.size()) refuse("it has bytes left over", reader.at());
  Checker(*program).check();
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
