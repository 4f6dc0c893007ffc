#include "nccl_api/calls/operation.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "base/types.hpp"
#include "host/driver/check.hpp"
#include "nccl_api/calls/joined_streams.hpp"
#include "nccl_api/calls/prepared_operation.hpp"
#include "nccl_api/calls/self_messages.hpp"
#include "nccl_api/universe/failure.hpp"

namespace dfccl::nccl {
namespace {

/// NCCL's maximum is dfccl's minimum, by number.
dfcclRedOp_t opOf(ncclRedOp_t op) {
  switch (op) {
    case ncclProd:
      return dfcclProd;
    case ncclMax:
      return dfcclMax;
    case ncclMin:
      return dfcclMin;
    case ncclAvg:
      return dfcclAvg;
    default:
      return dfcclSum;  // the scaled ones too: their input is scaled before
  }
}

/// What is kept until a run is over.
struct Held {
  std::shared_ptr<Communicator> communicator;
  std::shared_ptr<void> scratch;
};

void isOver(void* argument, dfcclResult_t status) {
  const std::unique_ptr<Held> held(static_cast<Held*>(argument));
  held->scratch.reset();
  held->communicator->ended(status);
}

dfcclResult_t queue(const Operation& o, uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request) {
  const auto type = static_cast<dfcclDataType_t>(o.type);
  const dfcclRedOp_t op = opOf(o.op);
  const dfcclGroup_t group = o.communicator->group();
  switch (o.kind) {
    case Kind::allReduce:
      return dfcclAllReduce(o.send, o.recv, o.count, type, op, group, tag, stream, request);
    case Kind::reduce:
      return dfcclReduce(o.send, o.recv, o.count, type, op, o.other, group, tag, stream, request);
    case Kind::broadcast:
      return dfcclBroadcast(o.send, o.recv, o.count, type, o.other, group, tag, stream, request);
    case Kind::allGather:
      return dfcclAllGather(o.send, o.recv, o.count, type, group, tag, stream, request);
    case Kind::reduceScatter:
      return dfcclReduceScatter(o.send, o.recv, o.count, type, op, group, tag, stream, request);
    case Kind::allToAll:
      return dfcclAllToAll(o.send, o.recv, o.count, type, group, tag, stream, request);
    case Kind::gather:
      return dfcclGather(o.send, o.recv, o.count, type, o.other, group, tag, stream, request);
    case Kind::scatter:
      return dfcclScatter(o.send, o.recv, o.count, type, o.other, group, tag, stream, request);
    case Kind::send:
      return dfcclSend(o.send, o.count, type, o.other, group, tag, stream, request);
    case Kind::receive:
      break;
  }
  return dfcclRecv(o.recv, o.count, type, o.other, group, tag, stream, request);
}

/// With what has to be done to its input before, if anything.
dfcclResult_t queuePrepared(const Operation& o, uint64_t tag, dfcclStream_t stream, dfcclRequest_t* request,
                            std::shared_ptr<void>& scratch) {
  if (o.scalar) return queue(scaled(o, scratch), tag, stream, request);
  // In graphs they can be in place.
  if (isCopiedBefore(o) && !isCapturing(o)) return queue(copied(o, scratch), tag, stream, request);
  return queue(o, tag, stream, request);
}

/// What it is counted with where operations are matched by position: with the communicator's collectives, or with
/// messages to or from the same rank. @return nothing: they are matched by what they are.
std::optional<int64_t> lineOf(const Operation& o) {
  static const bool isByPosition = [] {
    const char* const said = std::getenv("DFCCL_MATCH");
    return said != nullptr && std::strcmp(said, "position") == 0;
  }();
  if (!isByPosition) return std::nullopt;
  if (o.kind != Kind::send && o.kind != Kind::receive) return 0;
  return 1 + 2 * int64_t{o.other} + (o.kind == Kind::send ? 1 : 0);
}

/// A run that is queued, and the stream that is to wait for it.
class Queued {
 public:
  /// Queues it, or leaves it to the batch that is open. @throws Failure, and nothing was queued then.
  explicit Queued(const Operation& o)
      : communicator_(o.communicator),
        stream_(o.stream == nullptr ? cudaStreamLegacy : o.stream),
        held_(std::make_unique<Held>(Held{o.communicator, nullptr})) {
    communicator_->checkState();
    const std::optional<int64_t> line = lineOf(o);
    const uint64_t tag = line ? communicator_->position(*line) : 0;
    check(queuePrepared(o, tag, stream_, &request_, held_->scratch));
    if (line) communicator_->advance(*line);
    line_ = line;
  }
  /// What was refused doesn't count.
  ~Queued() {
    dfcclFreeRequest(request_);
    if (held_ && line_) communicator_->retreat(*line_);
  }
  Queued(const Queued&) = delete;
  Queued& operator=(const Queued&) = delete;

  /// It is queued, and it will end.
  void begin() {
    communicator_->began();
    // It can't fail: the request is open and has no callback.
    dfcclNotifyRun(request_, isOver, held_.release());
  }
  void letStreamWait() const { check(dfcclWaitRunOnStream(request_, stream_)); }

 private:
  const std::shared_ptr<Communicator> communicator_;
  const dfcclStream_t stream_;
  std::unique_ptr<Held> held_;  // until it has begun
  std::optional<int64_t> line_;
  dfcclRequest_t request_ = nullptr;
};

/// Operations of one world, which are done all or not at all.
class Batch {
 public:
  explicit Batch(size_t operations) {
    queued_.reserve(operations);
    check(dfcclBatchBegin());
  }
  ~Batch() {
    if (isOpen_) dfcclBatchCancel();
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  void add(std::unique_ptr<Queued> operation) { queued_.push_back(std::move(operation)); }
  /// @throws Failure
  std::vector<std::unique_ptr<Queued>> submit() {
    isOpen_ = false;
    check(dfcclBatchEnd(nullptr));
    for (const auto& run : queued_) run->begin();
    return std::move(queued_);
  }

 private:
  bool isOpen_ = true;
  std::vector<std::unique_ptr<Queued>> queued_;
};

/// Where one of several multiplies a buffer before it is queued, all are tried before: a group of which one is refused
/// for its buffers multiplies none. (What a rank sends itself is copied by then.) @throws Failure
void rehearse(const std::vector<Operation>& operations) {
  const auto multiplies = [](const Operation& o) { return o.scalar.has_value(); };
  if (operations.size() == 1 || std::none_of(operations.begin(), operations.end(), multiplies)) return;
  const Batch dropped(0);
  for (const Operation& o : operations) {
    checkBuffers(o);
    // In place it can't be queued as it is.
    if (!isCopiedBefore(o)) check(queue(o, 0, o.stream == nullptr ? cudaStreamLegacy : o.stream, nullptr));
  }
}

/// Of several things, each of which is done whatever becomes of the others.
class FirstFailure {
 public:
  template <class Act>
  void attempt(const Act& act) noexcept {
    try {
      act();
    } catch (...) {
      if (!first_) first_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

}  // namespace

size_t bytesOf(const Operation& o, size_t parts) {
  constexpr size_t kMostBytes = SIZE_MAX / 2;  // which rounds up to a power of two
  if (o.count > kMostBytes / sizeOf(static_cast<DataType>(o.type)) / parts) {
    refuseArgument("There are " + std::to_string(o.count) + " elements, more than any memory has.",
                   "Pass their number.");
  }
  return o.count * parts * sizeOf(static_cast<DataType>(o.type));
}

void submit(const Operation& operation) {
  if (isToSelf(operation)) refuseHalfAMessage();
  const Communicator::Use use(*operation.communicator);
  Queued run(operation);
  run.begin();
  run.letStreamWait();
}

void submit(std::vector<Operation> operations) {
  if (operations.empty()) return;
  std::vector<std::shared_ptr<Communicator>> used;
  std::vector<std::unique_ptr<const Communicator::Use>> uses;  // which end first
  for (const Operation& operation : operations) {
    operation.communicator->checkState();
    if (!used.empty() && used.back() == operation.communicator) continue;
    used.push_back(operation.communicator);
  }
  for (const auto& communicator : used) uses.push_back(std::make_unique<const Communicator::Use>(*communicator));
  const JoinedStreams streams(operations);
  streams.join();
  copySelfMessages(operations);
  // In one order on all ranks, whatever the group's is.
  const auto world = [](const Operation& o) { return o.communicator->universe()->id(); };
  const auto isBefore = [&](const Operation& a, const Operation& b) { return world(a) < world(b); };
  if (!std::is_sorted(operations.begin(), operations.end(), isBefore)) {
    std::stable_sort(operations.begin(), operations.end(), isBefore);
  }
  FirstFailure failure;
  std::vector<std::unique_ptr<Queued>> queued;
  queued.reserve(operations.size());
  rehearse(operations);
  for (size_t begin = 0, end = 0; begin < operations.size(); begin = end) {
    while (end < operations.size() && world(operations[end]) == world(operations[begin])) ++end;
    failure.attempt([&] {
      Batch batch(end - begin);
      for (size_t i = begin; i < end; ++i) batch.add(std::make_unique<Queued>(operations[i]));
      for (std::unique_ptr<Queued>& run : batch.submit()) queued.push_back(std::move(run));
    });
  }
  // What was queued goes on all the same, whatever it is that went wrong, and works on its buffers.
  for (const auto& run : queued) failure.attempt([&] { run->letStreamWait(); });
  failure.attempt([&] { streams.join(); });
  failure.rethrow();
}

}  // namespace dfccl::nccl
