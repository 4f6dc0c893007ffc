#include "execute.hpp"

#include <algorithm>
#include <cstring>

namespace dfccl::reduce_copy {
namespace {

// Small enough to stay in a first-level cache of 32 KiB beside one line of each source and destination.
constexpr size_t kStageBytes = 8 << 10;

bool isCopy(ReduceOp op, const ReduceCopyArgs& args) {
  if (args.sourceCount != 1) return false;
  if (op == ReduceOp::scaledSum) return args.scales == nullptr;
  return op != ReduceOp::avg || args.divisor <= 1;
}

void put(StreamKernel stream, void* destination, size_t offset, const void* from, size_t bytes) {
  char* to = static_cast<char*>(destination) + offset;
  if (to == from) return;
  if (stream != nullptr) {
    stream(to, from, bytes);
  } else {
    std::memcpy(to, from, bytes);
  }
}

// A stretch at a time, so that the source is read from memory once, however many destinations there are.
void copy(StreamKernel stream, const ReduceCopyArgs& args, size_t bytes) {
  const size_t stretch = args.destinationCount == 1 ? bytes : kStageBytes;
  for (size_t at = 0; at < bytes; at += stretch) {
    const char* from = static_cast<const char*>(args.sources[0]) + at;
    for (int j = 0; j < args.destinationCount; ++j) {
      put(stream, args.destinations[j], at, from, std::min(stretch, bytes - at));
    }
  }
}

void reduceStaged(ReduceKernel reduce, DivideKernel divide, StreamKernel stream, const KernelCall& call,
                  size_t elementBytes, uint32_t divisor) {
  alignas(64) char stage[kStageBytes];
  void* const stages[] = {stage};
  KernelCall part = call;
  part.destinations = stages;
  part.destinationCount = 1;
  const size_t stretch = kStageBytes / elementBytes;
  for (size_t at = 0; at < call.count; at += stretch) {
    part.sourceOffset = at;
    part.count = std::min(stretch, call.count - at);
    reduce(part);
    if (divide != nullptr) divide(stage, part.count, divisor);
    for (int j = 0; j < call.destinationCount; ++j) {
      put(stream, call.destinations[j], at * elementBytes, stage, part.count * elementBytes);
    }
  }
}

/// Without a fence behind stores that go around the caches.
void carryOut(const KernelFamily& family, Strategy strategy, DataType type, ReduceOp op, const ReduceCopyArgs& args) {
  if (args.count == 0) return;
  const StreamKernel stream = strategy == Strategy::streamed ? family.stream : nullptr;
  if (isCopy(op, args)) {
    copy(stream, args, args.count * sizeOf(type));
  } else {
    if (op == ReduceOp::scaledSum && args.scales == nullptr) op = ReduceOp::sum;
    const uint32_t divisor = op == ReduceOp::avg ? args.divisor : 0;
    const ReduceKernel reduce = family.reduce[static_cast<int>(type)][static_cast<int>(op)];
    const DivideKernel divide = divisor > 1 ? family.divide[static_cast<int>(type)] : nullptr;
    const KernelCall call{.sources = args.sources,
                          .destinations = args.destinations,
                          .scales = args.scales,
                          .sourceOffset = 0,
                          .destinationOffset = 0,
                          .count = args.count,
                          .sourceCount = args.sourceCount,
                          .destinationCount = args.destinationCount,
                          .divisor = divisor};
    if (strategy == Strategy::direct && divide == nullptr) {
      reduce(call);
    } else {
      reduceStaged(reduce, divide, stream, call, sizeOf(type), divisor);
    }
  }
}

}  // namespace

void executeWith(const KernelFamily& family, Strategy strategy, DataType type, ReduceOp op,
                 const ReduceCopyArgs& args) {
  carryOut(family, strategy, type, op, args);
  if (strategy == Strategy::streamed && family.stream != nullptr) family.streamFence();
}

void executeWith(const KernelFamily& family, DataType type, ReduceOp op, const ReduceCopyArgs& args, Stores stores) {
  const Strategy strategy = chooseStrategy({.sourceCount = args.sourceCount,
                                            .destinationCount = args.destinationCount,
                                            .operandBytes = args.count * sizeOf(type),
                                            .workingSetBytes = args.workingSetBytes,
                                            .stores = stores,
                                            .canStream = family.stream != nullptr});
  if (stores == Stores::aroundUnordered) return carryOut(family, strategy, type, op, args);
  executeWith(family, strategy, type, op, args);
}

}  // namespace dfccl::reduce_copy
