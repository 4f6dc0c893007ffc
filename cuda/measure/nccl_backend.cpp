#include "measure/nccl_backend.hpp"

#include <bit>
#include <chrono>

#include "host/driver/check.hpp"
#include "numeric/element.hpp"

namespace dfccl::gpu::measure {

using bench::Case;
using bench::Exit;
using bench::PerfError;
using bench::Test;

NcclBackend::NcclBackend(const Options& options)
    : BackendOfProcesses(options.group, static_cast<uint32_t>(options.devices.size())),
      options_(options),
      nccl_(options.library, options.devices, {ranks(), firstRank(), [&](const NcclUniqueId& own) {
                                                 return options.group == nullptr ? own : options.group->ofFirst(own);
                                               }}) {}

void NcclBackend::check(int result, const char* call) const {
  try {
    nccl_.library().check(result, call);
  } catch (const Error& error) {
    throw PerfError(Exit::nccl, error.what());
  }
}

std::string NcclBackend::refusal(const Case& shape, bool) const {
  constexpr int kFirstWithFloat8 = 22400;
  const bool isFloat8 = shape.type == DataType::float8e4m3 || shape.type == DataType::float8e5m2;
  if (isFloat8 && nccl_.library().version < kFirstWithFloat8) return "NCCL before 2.24 has no float8";
  if (isOfBits(shape.op) && bench::reduces(shape.test)) return "NCCL has no operators of bits";
  if (shape.test == Test::hypercube && shape.ranks > 2 && options_.ranksPerThread > 1) {
    return "NCCL would merge the steps of ranks that one thread drives: give each a thread (-t)";
  }
  return {};
}

// It multiplies by 1/n, which is no float unless n is a power of two.
bool NcclBackend::isExact(const Case& shape) const {
  const bool isFloat = bench::withElement(shape.type, []<class T>(T) { return bench::ElementFormat<T>::kIsFloat; });
  return shape.op != ReduceOp::avg || !isFloat || std::has_single_bit(shape.ranks);
}

void NcclBackend::attachThread(uint32_t firstRank) { DFCCL_CUDA(cudaSetDevice(options_.devices[localOf(firstRank)])); }

void NcclBackend::prepare(const Case& shape, bool, uint32_t) {
  shape_ = shape;
  ops_.assign(localRanks(), ncclOpOf(shape.op));
  if (shape.op != ReduceOp::scaledSum || !bench::reduces(shape.test)) return;
  constexpr int kInHostMemory = 1;
  for (uint32_t rank = firstRank(); rank < firstRank() + localRanks(); ++rank) {
    bench::withElement(shape.type, [&]<class T>(T) {
      T scalar = element::Element<T>::write(static_cast<typename element::Element<T>::Value>(bench::scaleOf(rank)));
      check(nccl_.library().createScaledSum(&ops_[localOf(rank)], &scalar, ncclTypeOf(shape.type), kInHostMemory,
                                            communicatorOf(rank)),
            "ncclRedOpCreatePreMulSum");
    });
  }
}

void NcclBackend::release() {
  if (shape_.op != ReduceOp::scaledSum || !bench::reduces(shape_.test)) return;
  for (uint32_t local = 0; local < localRanks(); ++local) {
    check(nccl_.library().destroyOp(ops_[local], nccl_.communicator(local)), "ncclRedOpDestroy");
  }
}

void NcclBackend::openGroup(uint32_t operations) {
  if (operations > 1) check(nccl_.library().groupStart(), "ncclGroupStart");
}
void NcclBackend::closeGroup(uint32_t operations) {
  if (operations > 1) check(nccl_.library().groupEnd(), "ncclGroupEnd");
}

void NcclBackend::enqueue(uint32_t rank, uint32_t, const void* send, void* recv) {
  const NcclLibrary& nccl = nccl_.library();
  const NcclCommunicator comm = communicatorOf(rank);
  const cudaStream_t stream = streamOf(rank);
  const int type = ncclTypeOf(shape_.type), root = static_cast<int>(shape_.root);
  const size_t count = shape_.count;
  switch (shape_.test) {
    case Test::allReduce:
      return check(nccl.allReduce(send, recv, count, type, ops_[localOf(rank)], comm, stream), "ncclAllReduce");
    case Test::allGather:
      return check(nccl.allGather(send, recv, count, type, comm, stream), "ncclAllGather");
    case Test::reduceScatter:
      return check(nccl.reduceScatter(send, recv, count, type, ops_[localOf(rank)], comm, stream), "ncclReduceScatter");
    case Test::reduce:
      return check(nccl.reduce(send, recv, count, type, ops_[localOf(rank)], root, comm, stream), "ncclReduce");
    case Test::broadcast:
      return check(nccl.broadcast(send, recv, count, type, root, comm, stream), "ncclBroadcast");
    case Test::allToAll:
      if (nccl.allToAll == nullptr) break;
      return check(nccl.allToAll(send, recv, count, type, comm, stream), "ncclAlltoAll");
    case Test::gather:
      if (nccl.gather == nullptr) break;
      return check(nccl.gather(send, recv, count, type, root, comm, stream), "ncclGather");
    case Test::scatter:
      if (nccl.scatter == nullptr) break;
      return check(nccl.scatter(send, recv, count, type, root, comm, stream), "ncclScatter");
    case Test::hypercube:
      return hypercube(rank, static_cast<const char*>(send), static_cast<char*>(recv));
    case Test::allToAllV:
    case Test::sendRecv:
      break;
  }
  sendAndReceive(rank, static_cast<const char*>(send), static_cast<char*>(recv));
}

/// What has no call of its own, from one rank to another at a time.
void NcclBackend::sendAndReceive(uint32_t rank, const char* send, char* recv) {
  const NcclLibrary& nccl = nccl_.library();
  const uint32_t n = shape_.ranks;
  const size_t element = shape_.elementBytes();
  const int type = ncclTypeOf(shape_.type);
  const auto give = [&](uint64_t at, uint64_t count, uint32_t to) {
    check(nccl.send(send + at * element, count, type, static_cast<int>(to), communicatorOf(rank), streamOf(rank)),
          "ncclSend");
  };
  const auto take = [&](uint64_t at, uint64_t count, uint32_t from) {
    check(nccl.receive(recv + at * element, count, type, static_cast<int>(from), communicatorOf(rank), streamOf(rank)),
          "ncclRecv");
  };
  const uint64_t count = shape_.count;
  check(nccl.groupStart(), "ncclGroupStart");
  if (shape_.test == Test::sendRecv) {
    give(0, count, (rank + 1) % n);
    take(0, count, (rank + n - 1) % n);
  }
  for (uint32_t peer = 0; peer < n; ++peer) {
    if (shape_.test == Test::allToAll || (shape_.test == Test::scatter && rank == shape_.root)) {
      give(peer * count, count, peer);
    }
    if (shape_.test == Test::allToAll || (shape_.test == Test::gather && rank == shape_.root)) {
      take(peer * count, count, peer);
    }
    if (shape_.test == Test::allToAllV) {
      const uint64_t part = shape_.unitsTo(rank, peer) * shape_.unit();
      if (part != 0) give(shape_.offsetOf(rank, peer), part, peer);
      if (part != 0) take(shape_.offsetOf(rank, peer), part, peer);
    }
  }
  if (shape_.test == Test::gather) give(0, count, shape_.root);
  if (shape_.test == Test::scatter) take(0, count, shape_.root);
  check(nccl.groupEnd(), "ncclGroupEnd");
}

/// In round k ranks at distance 2^k exchange all that they have.
void NcclBackend::hypercube(uint32_t rank, const char* send, char* recv) {
  const NcclLibrary& nccl = nccl_.library();
  const size_t bytes = shape_.count * shape_.elementBytes();
  const int type = ncclTypeOf(shape_.type);
  const NcclCommunicator comm = communicatorOf(rank);
  const cudaStream_t stream = streamOf(rank);
  char* const own = recv + rank * bytes;
  if (send != own) DFCCL_CUDA(cudaMemcpyAsync(own, send, bytes, cudaMemcpyDeviceToDevice, stream));
  for (uint32_t distance = 1; distance < shape_.ranks; distance *= 2) {
    const uint32_t mine = rank & ~(distance - 1);
    const int partner = static_cast<int>(rank ^ distance);
    check(nccl.groupStart(), "ncclGroupStart");
    check(nccl.send(recv + mine * bytes, shape_.count * distance, type, partner, comm, stream), "ncclSend");
    check(nccl.receive(recv + (mine ^ distance) * bytes, shape_.count * distance, type, partner, comm, stream),
          "ncclRecv");
    check(nccl.groupEnd(), "ncclGroupEnd");
  }
}

void NcclBackend::complete(uint32_t firstRank, uint32_t count) {
  for (uint32_t rank = firstRank; rank < firstRank + count; ++rank) await(rank);
}

void NcclBackend::await(uint32_t rank) const {
  if (options_.timeoutSeconds <= 0) {
    DFCCL_CUDA(cudaStreamSynchronize(streamOf(rank)));
    return;
  }
  using Clock = std::chrono::steady_clock;
  constexpr uint32_t kLooks = 1024;  // between two at the clock
  const auto end = Clock::now() + std::chrono::duration<double>(options_.timeoutSeconds);
  cudaError_t state = cudaErrorNotReady;
  for (uint32_t looks = 1; (state = cudaStreamQuery(streamOf(rank))) == cudaErrorNotReady; ++looks) {
    if (looks % kLooks != 0) continue;
    int problem = 0;
    check(nccl_.library().asyncError(communicatorOf(rank), &problem), "ncclCommGetAsyncError");
    check(problem, "ncclCommGetAsyncError");
    if (Clock::now() < end) continue;
    throw PerfError(Exit::timeout, "rank " + std::to_string(rank) + " has waited in " +
                                       bench::kTestNames[static_cast<size_t>(shape_.test)] +
                                       " for as long as --timeout allows: another rank doesn't come.");
  }
  DFCCL_CUDA(state);
}

}  // namespace dfccl::gpu::measure
