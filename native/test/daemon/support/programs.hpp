#pragma once
// Programs written by hand, as small as they can be and still show one thing each. packages/primitives has the real
// builders; these need no JavaScript.
#include <cstdint>
#include <functional>
#include <vector>

#include "base/program.hpp"
#include "base/types.hpp"
#include "daemon/framing/protocols.hpp"

namespace dfccl::test {

inline std::vector<Protocol> everyProtocol() {
  std::vector<Protocol> all(kProtocolCount);
  for (uint32_t code = 0; code < kProtocolCount; ++code) all[code] = static_cast<Protocol>(code);
  return all;
}

/// The program of one member.
using ProgramOf = std::function<std::vector<uint8_t>(uint32_t member)>;

class ProgramWriter {
 public:
  ProgramWriter(Collective collective, Protocol protocol, uint32_t rankCount, uint32_t rank, uint32_t blockCount)
      : blocks_(blockCount) {
    header.magic = kProgramMagic;
    header.version = kProgramVersion;
    header.flags = kInPlace | kOutOfPlace;
    header.rankCount = rankCount;
    header.rank = rank;
    header.collective = static_cast<uint32_t>(collective);
    header.protocol = static_cast<uint32_t>(protocol);
    header.blockCount = blockCount;
    header.chunksPerSegment = header.inputSegments = header.outputSegments = 1;
    header.slotCount = 2;
    header.maxStepCount = 1;
    header.root = kNone;
    header.digest = 1;
  }

  ProgramHeader header{};

  uint32_t sendTo(uint32_t block, uint32_t peer) { return connection(block, peer, 1); }
  uint32_t receiveFrom(uint32_t block, uint32_t peer) { return connection(block, peer, 0); }

  /// One chunk, nothing connected.
  static StepRecord step(Op op) {
    StepRecord s{};
    s.op = static_cast<uint8_t>(op);
    s.srcBuffer = s.dstBuffer = s.remoteBuffer = s.landingBuffer = static_cast<uint8_t>(BufferKind::none);
    s.sendConnection = s.recvConnection = kNone;
    s.count = 1;
    return s;
  }
  static void from(StepRecord& s, BufferKind buffer, uint32_t chunk) {
    s.srcBuffer = static_cast<uint8_t>(buffer);
    s.srcChunk = chunk;
  }
  static void to(StepRecord& s, BufferKind buffer, uint32_t chunk) {
    s.dstBuffer = static_cast<uint8_t>(buffer);
    s.dstChunk = chunk;
  }

  /// @return the step's index within its block.
  uint32_t add(uint32_t block, StepRecord step) {
    blocks_[block].push_back(step);
    return static_cast<uint32_t>(blocks_[block].size() - 1);
  }
  uint32_t addMulti(uint32_t block, StepRecord step, const std::vector<ChunkRefRecord>& sources,
                    const std::vector<ChunkRefRecord>& destinations) {
    step.firstRef = static_cast<uint32_t>(refs_.size());
    step.sourceCount = static_cast<uint16_t>(sources.size());
    step.destinationCount = static_cast<uint16_t>(destinations.size());
    refs_.insert(refs_.end(), sources.begin(), sources.end());
    refs_.insert(refs_.end(), destinations.begin(), destinations.end());
    return add(block, step);
  }
  /// The last step added to `block` waits for a step of another block.
  void await(uint32_t block, uint32_t otherBlock, uint32_t otherStep) {
    blocks_[otherBlock][otherStep].isAwaited = 1;
    StepRecord& s = blocks_[block].back();
    if (s.dependencyCount++ == 0) s.firstDependency = static_cast<uint32_t>(dependencies_.size());
    dependencies_.push_back({otherBlock, otherStep, {}});
  }

  std::vector<uint8_t> encode() {
    std::vector<BlockRecord> records;
    uint32_t steps = 0;
    for (const auto& block : blocks_) {
      records.push_back({steps, static_cast<uint32_t>(block.size()), {}});
      steps += static_cast<uint32_t>(block.size());
    }
    header.connectionCount = static_cast<uint32_t>(connections_.size());
    header.stepCount = steps;
    header.refCount = static_cast<uint32_t>(refs_.size());
    header.dependencyCount = static_cast<uint32_t>(dependencies_.size());
    header.totalBytes =
        static_cast<uint32_t>(sizeof header + records.size() * sizeof(BlockRecord) +
                              connections_.size() * sizeof(ConnectionRecord) + steps * sizeof(StepRecord) +
                              refs_.size() * sizeof(ChunkRefRecord) + dependencies_.size() * sizeof(DependencyRecord));
    std::vector<uint8_t> bytes;
    append(bytes, header);
    for (const auto& record : records) append(bytes, record);
    for (const auto& connection : connections_) append(bytes, connection);
    for (const auto& block : blocks_) {
      for (const auto& s : block) append(bytes, s);
    }
    for (const auto& ref : refs_) append(bytes, ref);
    for (const auto& dependency : dependencies_) append(bytes, dependency);
    return bytes;
  }

 private:
  uint32_t connection(uint32_t block, uint32_t peer, uint32_t isSend) {
    for (uint32_t i = 0; i < connections_.size(); ++i) {
      const ConnectionRecord& c = connections_[i];
      if (c.peer == peer && c.channel == block && c.isSend == isSend) return i;
    }
    connections_.push_back({peer, block, isSend, block});
    return static_cast<uint32_t>(connections_.size() - 1);
  }
  template <class T>
  static void append(std::vector<uint8_t>& bytes, const T& record) {
    const auto* begin = reinterpret_cast<const uint8_t*>(&record);
    bytes.insert(bytes.end(), begin, begin + sizeof record);
  }

  std::vector<std::vector<StepRecord>> blocks_;
  std::vector<ConnectionRecord> connections_;
  std::vector<ChunkRefRecord> refs_;
  std::vector<DependencyRecord> dependencies_;
};

/// The ring all-reduce of one block over chunks (position * blocks + block), results into `into`.
/// @return for each position, the step that completed it.
std::vector<uint32_t> inline writeRing(ProgramWriter& w, uint32_t block, uint32_t blocks, BufferKind into) {
  const uint32_t n = w.header.rankCount;
  const uint32_t r = w.header.rank;
  const auto chunk = [&](uint32_t position) { return position % n * blocks + block; };
  std::vector<uint32_t> completing(n);
  if (n == 1) {
    StepRecord s = ProgramWriter::step(Op::copy);
    ProgramWriter::from(s, BufferKind::input, chunk(0));
    ProgramWriter::to(s, into, chunk(0));
    completing[0] = w.add(block, s);
    return completing;
  }
  const uint32_t next = w.sendTo(block, (r + 1) % n);
  const uint32_t previous = w.receiveFrom(block, (r + n - 1) % n);
  const auto add = [&](Op op, uint32_t position, bool reads, bool writes, bool receives, bool sends) {
    StepRecord s = ProgramWriter::step(op);
    if (reads) ProgramWriter::from(s, BufferKind::input, chunk(position));
    if (writes) ProgramWriter::to(s, into, chunk(position));
    if (receives) s.recvConnection = previous;
    if (sends) s.sendConnection = next;
    if (op == Op::recvReduceCopySend) s.flags = kFinish;
    const uint32_t index = w.add(block, s);
    if (writes) completing[position % n] = index;
  };
  add(Op::send, r, true, false, false, true);
  for (uint32_t i = 1; i + 1 < n; ++i) add(Op::recvReduceSend, r + n - i, true, false, true, true);
  add(Op::recvReduceCopySend, r + 1, true, true, true, true);
  for (uint32_t i = 1; i + 1 < n; ++i) add(Op::recvCopySend, r + 1 + n - i, false, true, true, true);
  add(Op::recv, r + 2, false, true, true, false);
  return completing;
}

/// Ring all-reduce, each block over chunks of its own. Two slots a connection are the least that a ring needs.
inline ProgramOf ringAllReduce(Protocol protocol, uint32_t ranks, uint32_t blocks = 1, uint32_t slots = 2) {
  return [=](uint32_t rank) {
    ProgramWriter w(Collective::allReduce, protocol, ranks, rank, blocks);
    w.header.chunksPerSegment = ranks * blocks;
    w.header.slotCount = slots;
    for (uint32_t block = 0; block < blocks; ++block) writeRing(w, block, blocks, BufferKind::output);
    return w.encode();
  };
}

/// The same with results in scratch, from where a second block copies each as soon as it is there.
inline ProgramOf stagedRingAllReduce(Protocol protocol, uint32_t ranks) {
  return [=](uint32_t rank) {
    ProgramWriter w(Collective::allReduce, protocol, ranks, rank, 2);
    w.header.chunksPerSegment = w.header.scratchChunks = ranks;
    const std::vector<uint32_t> completing = writeRing(w, 0, 1, BufferKind::scratch);
    for (uint32_t chunk = 0; chunk < ranks; ++chunk) {
      StepRecord s = ProgramWriter::step(Op::copy);
      ProgramWriter::from(s, BufferKind::scratch, chunk);
      ProgramWriter::to(s, BufferKind::output, chunk);
      w.add(1, s);
      w.await(1, 0, completing[chunk]);
    }
    return w.encode();
  };
}

/// The root's data runs down the chain of ranks that begins at it; nothing ever flows back but credits.
inline ProgramOf chainBroadcast(Protocol protocol, uint32_t ranks, uint32_t root, uint32_t slots) {
  return [=](uint32_t rank) {
    ProgramWriter w(Collective::broadcast, protocol, ranks, rank, 1);
    w.header.slotCount = slots;
    w.header.root = root;
    const uint32_t place = (rank + ranks - root) % ranks;
    if (place == 0) {
      StepRecord copy = ProgramWriter::step(Op::copy);
      ProgramWriter::from(copy, BufferKind::input, 0);
      ProgramWriter::to(copy, BufferKind::output, 0);
      w.add(0, copy);
      if (ranks == 1) return w.encode();
      StepRecord send = ProgramWriter::step(Op::send);
      ProgramWriter::from(send, BufferKind::input, 0);
      send.sendConnection = w.sendTo(0, (rank + 1) % ranks);
      w.add(0, send);
      return w.encode();
    }
    StepRecord s = ProgramWriter::step(place + 1 == ranks ? Op::recv : Op::recvCopySend);
    ProgramWriter::to(s, BufferKind::output, 0);
    s.recvConnection = w.receiveFrom(0, (rank + ranks - 1) % ranks);
    if (place + 1 != ranks) s.sendConnection = w.sendTo(0, (rank + 1) % ranks);
    w.add(0, s);
    return w.encode();
  };
}

/// Every rank reduces its share from everyone's input into everyone's output, in several blocks.
inline ProgramOf directAllReduce(uint32_t ranks, uint32_t blocks) {
  return [=](uint32_t rank) {
    ProgramWriter w(Collective::allReduce, Protocol::simple, ranks, rank, blocks);
    w.header.flags |= kUsesDirect;
    w.header.chunksPerSegment = ranks * blocks;
    w.header.maxStepCount = 0;
    for (uint32_t block = 0; block < blocks; ++block) {
      StepRecord s = ProgramWriter::step(Op::multiReduceCopy);
      s.flags = kFinish;
      std::vector<ChunkRefRecord> sources, destinations;
      for (uint32_t q = 0; q < ranks; ++q) {
        sources.push_back({q, static_cast<uint32_t>(BufferKind::input), rank * blocks + block, 0});
        destinations.push_back({q, static_cast<uint32_t>(BufferKind::output), rank * blocks + block, 0});
      }
      w.addMulti(block, s, sources, destinations);
    }
    return w.encode();
  };
}

/// Every rank writes its data into everyone's output and signals that it is there.
inline ProgramOf pushAllGather(uint32_t ranks) {
  return [=](uint32_t rank) {
    ProgramWriter w(Collective::allGather, Protocol::simple, ranks, rank, 1);
    w.header.flags |= kUsesDirect;
    w.header.outputSegments = ranks;
    w.header.maxStepCount = 0;
    StepRecord copy = ProgramWriter::step(Op::copy);
    ProgramWriter::from(copy, BufferKind::input, 0);
    ProgramWriter::to(copy, BufferKind::output, rank);
    w.add(0, copy);
    for (uint32_t distance = 1; distance < ranks; ++distance) {
      const uint32_t peer = (rank + distance) % ranks;
      StepRecord s = ProgramWriter::step(Op::send);
      ProgramWriter::from(s, BufferKind::input, 0);
      s.sendConnection = w.sendTo(0, peer);
      s.flags = kDirectSend;
      s.remoteBuffer = static_cast<uint8_t>(BufferKind::output);
      s.remoteChunk = rank;
      w.add(0, s);
    }
    for (uint32_t distance = 1; distance < ranks; ++distance) {
      const uint32_t peer = (rank + ranks - distance) % ranks;
      StepRecord s = ProgramWriter::step(Op::recv);
      ProgramWriter::to(s, BufferKind::output, peer);
      s.recvConnection = w.receiveFrom(0, peer);
      s.flags = kDirectRecv;
      s.landingBuffer = static_cast<uint8_t>(BufferKind::output);
      s.landingChunk = peer;
      w.add(0, s);
    }
    return w.encode();
  };
}

}  // namespace dfccl::test
