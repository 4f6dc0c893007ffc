#include "program/program_check.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "daemon/framing/protocols.hpp"
#include "daemon/movers/interpreter.hpp"

namespace dfccl {

void refuseProgram(const std::string& what, size_t offset) {
  throw Error(dfcclInvalidProgram,
              "The program can't be loaded: " + what + " (at byte " + std::to_string(offset) + ").",
              "Encode it again with @dfccl/primitives' encodeProgram().",
              {{"offset", std::to_string(offset)}, {"reason", what}});
}

void checkHeader(const ProgramHeader& h, size_t bytes) {
  if (h.magic != kProgramMagic) refuseProgram("it doesn't begin with DFCP", 0);
  if (h.version != kProgramVersion)
    refuseProgram("version " + std::to_string(h.version) + " instead of " + std::to_string(kProgramVersion), 4);
  if (h.totalBytes != bytes)
    refuseProgram("it says " + std::to_string(h.totalBytes) + " bytes and has " + std::to_string(bytes), 8);
  if (h.rankCount == 0 || h.rankCount > 65536 || h.rank >= h.rankCount) refuseProgram("rank out of range", 16);
  if (h.collective >= kCollectiveCount) refuseProgram("unknown collective", 24);
  if (h.protocol >= kProtocolCount) refuseProgram("unknown protocol", 28);
  if (h.blockCount == 0 || h.blockCount > 1024) refuseProgram("1 to 1024 blocks are allowed", 32);
  if (h.chunksPerSegment == 0 || h.chunksPerSegment > kMaxRecords) refuseProgram("no chunks", 52);
  if (uint64_t{h.inputSegments} * h.chunksPerSegment > kMaxRecords ||
      uint64_t{h.outputSegments} * h.chunksPerSegment > kMaxRecords || h.scratchChunks > kMaxRecords) {
    refuseProgram("too many chunks", 52);
  }
  if ((h.flags & kStepByStep) && (h.connectionCount != 0 || h.dependencyCount != 0)) {
    refuseProgram("step by step, but its steps wait for others", 12);
  }
  if (h.connectionCount != 0 && (h.slotCount == 0 || h.slotCount > 1024))
    refuseProgram("1 to 1024 slots are allowed", 68);
  if (h.maxStepCount > kMaxRecords) refuseProgram("a step of too many chunks", 72);
}

namespace {

class Checker {
 public:
  explicit Checker(const BoundProgram& p) : p_(p), h_(p.header) {}

  void check() const {
    const size_t stepsAt = sizeof(ProgramHeader) + p_.blocks.size() * sizeof(BlockRecord) +
                           p_.connections.size() * sizeof(ConnectionRecord);
    for (size_t i = 0; i < p_.blocks.size(); ++i) {
      const BlockRecord& b = p_.blocks[i];
      if (uint64_t{b.firstStep} + b.stepCount > p_.steps.size()) {
        refuseProgram("block " + std::to_string(i) + " has steps outside the table",
                      sizeof(ProgramHeader) + i * sizeof(BlockRecord));
      }
    }
    for (size_t i = 0; i < p_.connections.size(); ++i) {
      const ConnectionRecord& c = p_.connections[i];
      const size_t at = sizeof(ProgramHeader) + p_.blocks.size() * sizeof(BlockRecord) + i * sizeof(ConnectionRecord);
      if (c.peer >= h_.rankCount || c.peer == h_.rank)
        refuseProgram("connection " + std::to_string(i) + " has no such peer", at);
      if (c.isSend > 1 || c.block >= h_.blockCount)
        refuseProgram("connection " + std::to_string(i) + " is malformed", at);
      for (size_t j = 0; j < i; ++j) {
        const ConnectionRecord& o = p_.connections[j];
        if (o.peer == c.peer && o.channel == c.channel && o.isSend == c.isSend)
          refuseProgram("connection " + std::to_string(i) + " is listed twice", at);
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
    if (buffer > 2) refuseProgram(std::string("unknown ") + what + " buffer", at);
    if (chunk + count > chunksIn(buffer)) refuseProgram(std::string(what) + " chunks outside the buffer", at);
  }

  void checkConnection(uint32_t index, uint32_t isSend, uint32_t block, size_t at) const {
    if (index >= p_.connections.size()) refuseProgram("unknown connection", at);
    const ConnectionRecord& c = p_.connections[index];
    if (c.isSend != isSend) refuseProgram("connection used in the wrong direction", at);
    if (c.block != block) refuseProgram("connection belongs to another block", at);
  }

  void checkMayBeDirect(size_t at) const {
    if (!(h_.flags & kUsesDirect)) refuseProgram("a direct step in a program that claims to have none", at);
  }

  void checkStep(const StepRecord& s, uint32_t block, size_t at) const {
    if (s.op >= kOpCount) refuseProgram("unknown op " + std::to_string(s.op), at);
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
      refuseProgram("op and connections disagree", at);
    if (receives) checkConnection(s.recvConnection, 0, block, at);
    if (sends) checkConnection(s.sendConnection, 1, block, at);
    if ((s.flags & ~(kDirectSend | kDirectRecv | kFinish)) != 0) refuseProgram("unknown flags", at);
    if ((s.flags & kDirectSend) && !sends) refuseProgram("direct send without a send", at);
    if ((s.flags & kDirectRecv) && !receives) refuseProgram("direct receive without a receive", at);
    if (s.flags & (kDirectSend | kDirectRecv)) checkMayBeDirect(at);
    if (s.count != 0 && readsLocal) checkRange(s.srcBuffer, s.srcChunk, s.count, "source", at);
    if (s.count != 0 && writesLocal) checkRange(s.dstBuffer, s.dstChunk, s.count, "destination", at);
    if (s.count != 0 && (s.flags & kDirectSend)) checkRange(s.remoteBuffer, s.remoteChunk, s.count, "remote", at);
    if (s.count != 0 && (s.flags & kDirectRecv)) checkRange(s.landingBuffer, s.landingChunk, s.count, "landing", at);
    if ((sends || receives) && s.count > h_.maxStepCount && !(s.flags & (kDirectSend | kDirectRecv))) {
      refuseProgram("more chunks than a slot holds", at);
    }
    if (op == Op::multiReduceCopy) {
      if (s.sourceCount == 0 || s.sourceCount > kMaxStepRefs || s.destinationCount == 0 ||
          s.destinationCount > kMaxStepRefs) {
        refuseProgram("a multi-peer step takes 1 to " + std::to_string(kMaxStepRefs) + " sources and destinations", at);
      }
      const uint64_t refs = uint64_t{s.sourceCount} + s.destinationCount;
      if (s.firstRef + refs > p_.refs.size()) refuseProgram("references outside the table", at);
      for (uint64_t i = s.firstRef; i < s.firstRef + refs; ++i) {
        if (p_.refs[i].rank >= h_.rankCount) refuseProgram("reference to an unknown rank", at);
        if (p_.refs[i].rank != h_.rank) checkMayBeDirect(at);
        checkRange(p_.refs[i].buffer, p_.refs[i].chunk, s.count, "referenced", at);
      }
    }
    if (uint64_t{s.firstDependency} + s.dependencyCount > p_.dependencies.size())
      refuseProgram("dependencies outside the table", at);
    for (uint32_t i = 0; i < s.dependencyCount; ++i) {
      const DependencyRecord& d = p_.dependencies[s.firstDependency + i];
      if (d.block >= p_.blocks.size() || d.step >= p_.blocks[d.block].stepCount)
        refuseProgram("dependency on an unknown step", at);
      if (!p_.steps[p_.blocks[d.block].firstStep + d.step].isAwaited)
        refuseProgram("dependency on a step that isn't marked as awaited", at);
    }
  }

  const BoundProgram& p_;
  const ProgramHeader& h_;
};

}  // namespace

void checkTables(const BoundProgram& program) { Checker(program).check(); }

}  // namespace dfccl
