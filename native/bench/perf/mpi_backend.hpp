#pragma once
// MPI's collectives: a process a rank. They are blocking, so an operation is over when it has begun.
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

#include "perf/backend.hpp"

namespace dfccl::bench {

class MpiBackend : public Backend {
 public:
  MpiBackend() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }
  /// Calls `onTimeout` from a thread of its own once a call into MPI has lasted that long: MPI's own calls wait for
  /// ever.
  void watch(double seconds, std::function<void(const std::string&)> onTimeout) {
    watchdog_ = std::jthread([this, seconds, onTimeout = std::move(onTimeout)](const std::stop_token& stop) {
      constexpr auto kLook = std::chrono::milliseconds(20);
      uint64_t seen = 0;
      double waited = 0;
      while (!stop.stop_requested()) {
        std::this_thread::sleep_for(kLook);
        const uint64_t now = calls_.load(std::memory_order_relaxed);
        const bool isInside = now % 2 == 1;
        waited = isInside && now == seen ? waited + std::chrono::duration<double>(kLook).count() : 0;
        seen = now;
        if (waited < seconds) continue;
        const auto test = static_cast<size_t>(shape_.test);
        return onTimeout("rank " + std::to_string(rank_) + " has waited in " + kTestNames[test] +
                         " for as long as --timeout allows: another rank doesn't come.");
      }
    });
  }
  const char* name() const override { return "mpi"; }
  std::string version() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string all(text, static_cast<size_t>(length));
    return all.substr(0, all.find(','));
  }
  uint32_t ranks() const override { return static_cast<uint32_t>(ranks_); }
  uint32_t firstRank() const override { return static_cast<uint32_t>(rank_); }
  uint32_t localRanks() const override { return 1; }
  /// The root of a broadcast sends from where the data lies; MPI has no second buffer for it.
  bool copiesOwnPart() const override { return false; }

  std::string refusal(const Case& shape, bool) const override {
    if (shape.recvElements() * shape.elementBytes() > std::numeric_limits<int>::max()) {
      return "MPI counts in 32 bits, and this is more than 2 GB";
    }
    if (!reduces(shape.test)) return {};
    if (shape.op == ReduceOp::avg) return "MPI has no average";
    if (shape.op == ReduceOp::scaledSum) return "MPI has no scaled sum";
    if (shape.op == ReduceOp::sum && shape.elementBytes() == 1) {
      return "OpenMPI's sums of 8 bits stop at the largest value, where they should wrap";
    }
    if (typeOf(shape.type) == MPI_DATATYPE_NULL) return "MPI has no arithmetic on floats of 8 and 16 bits";
    return {};
  }

  void prepare(const Case& shape, bool inPlace, uint32_t) override {
    shape_ = shape;
    inPlace_ = inPlace;
    if (shape.test != Test::allToAllV) return;
    counts_.clear();
    offsets_.clear();
    const size_t element = shape.elementBytes();
    for (uint32_t peer = 0; peer < shape.ranks; ++peer) {
      counts_.push_back(static_cast<int>(shape.unitsTo(firstRank(), peer) * shape.unit() * element));
      offsets_.push_back(static_cast<int>(shape.offsetOf(firstRank(), peer) * element));
    }
  }
  void release() override {}
  void complete(uint32_t, uint32_t) override {}
  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }

  void enqueue(uint32_t, uint32_t, const void* send, void* recv) override {
    // One thread writes it: no locked instruction, which would be measured along.
    calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    call(send, recv);
    calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  double combine(double mine, Average average) override {
    double all = mine;
    if (average == Average::rank0) {
      MPI_Bcast(&all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    } else {
      const MPI_Op op = average == Average::least ? MPI_MIN : average == Average::most ? MPI_MAX : MPI_SUM;
      MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
    }
    return average == Average::mean ? all / ranks_ : all;
  }
  uint64_t sum(uint64_t mine) override {
    uint64_t all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }
  uint64_t ofFirst(uint64_t mine) override {
    MPI_Bcast(&mine, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return mine;
  }

 private:
  void call(const void* send, void* recv) {
    const MPI_Comm kAll = MPI_COMM_WORLD;
    const auto bytes = static_cast<int>(shape_.count * shape_.elementBytes());
    const auto count = static_cast<int>(shape_.count);
    const auto root = static_cast<int>(shape_.root);
    const bool isRoot = rank_ == root;
    const void* from = inPlace_ ? MPI_IN_PLACE : send;
    switch (shape_.test) {
      case Test::allReduce:
        MPI_Allreduce(from, recv, count, typeOf(shape_.type), opOf(shape_.op), kAll);
        break;
      case Test::reduce:
        MPI_Reduce(inPlace_ && isRoot ? MPI_IN_PLACE : send, recv, count, typeOf(shape_.type), opOf(shape_.op), root,
                   kAll);
        break;
      case Test::reduceScatter:
        reduceScatter(send, recv, count);
        break;
      case Test::broadcast:
        MPI_Bcast(isRoot ? const_cast<void*>(send) : recv, bytes, MPI_BYTE, root, kAll);
        break;
      case Test::allGather:
        MPI_Allgather(from, bytes, MPI_BYTE, recv, bytes, MPI_BYTE, kAll);
        break;
      case Test::allToAll:
        MPI_Alltoall(from, bytes, MPI_BYTE, recv, bytes, MPI_BYTE, kAll);
        break;
      case Test::allToAllV:
        MPI_Alltoallv(from, counts_.data(), offsets_.data(), MPI_BYTE, recv, counts_.data(), offsets_.data(), MPI_BYTE,
                      kAll);
        break;
      case Test::gather:
        MPI_Gather(inPlace_ && isRoot ? MPI_IN_PLACE : send, bytes, MPI_BYTE, recv, bytes, MPI_BYTE, root, kAll);
        break;
      case Test::scatter:
        MPI_Scatter(send, bytes, MPI_BYTE, inPlace_ && isRoot ? MPI_IN_PLACE : recv, bytes, MPI_BYTE, root, kAll);
        break;
      case Test::sendRecv:
        sendRecv(send, recv, bytes);
        break;
      case Test::hypercube:
        hypercube(send, static_cast<char*>(recv), bytes);
        break;
    }
  }

  static MPI_Datatype typeOf(DataType type) {
    switch (type) {
      case DataType::int8:
        return MPI_INT8_T;
      case DataType::uint8:
        return MPI_UINT8_T;
      case DataType::int32:
        return MPI_INT32_T;
      case DataType::uint32:
        return MPI_UINT32_T;
      case DataType::int64:
        return MPI_INT64_T;
      case DataType::uint64:
        return MPI_UINT64_T;
      case DataType::float32:
        return MPI_FLOAT;
      case DataType::float64:
        return MPI_DOUBLE;
      default:
        return MPI_DATATYPE_NULL;
    }
  }
  static MPI_Op opOf(ReduceOp op) {
    switch (op) {
      case ReduceOp::prod:
        return MPI_PROD;
      case ReduceOp::min:
        return MPI_MIN;
      case ReduceOp::max:
        return MPI_MAX;
      case ReduceOp::bitAnd:
        return MPI_BAND;
      case ReduceOp::bitOr:
        return MPI_BOR;
      case ReduceOp::bitXor:
        return MPI_BXOR;
      case ReduceOp::sum:
      case ReduceOp::avg:
      case ReduceOp::scaledSum:
        break;
    }
    return MPI_SUM;
  }

  /// In place MPI leaves the result at the beginning of the buffer; NCCL's place for it is the rank's own segment.
  void reduceScatter(const void* send, void* recv, int count) {
    const MPI_Datatype type = typeOf(shape_.type);
    if (!inPlace_) {
      MPI_Reduce_scatter_block(send, recv, count, type, opOf(shape_.op), MPI_COMM_WORLD);
      return;
    }
    MPI_Reduce_scatter_block(MPI_IN_PLACE, const_cast<void*>(send), count, type, opOf(shape_.op), MPI_COMM_WORLD);
    if (recv != send) std::memcpy(recv, send, static_cast<size_t>(count) * shape_.elementBytes());
  }

  void sendRecv(const void* send, void* recv, int bytes) {
    const int to = (rank_ + 1) % ranks_, from = (rank_ + ranks_ - 1) % ranks_;
    if (inPlace_) {
      MPI_Sendrecv_replace(recv, bytes, MPI_BYTE, to, 0, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Sendrecv(send, bytes, MPI_BYTE, to, 0, recv, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }

  /// In round k ranks at distance 2^k exchange all that they have.
  void hypercube(const void* send, char* recv, int bytes) {
    const auto at = [&](int segment) { return recv + static_cast<size_t>(segment) * static_cast<size_t>(bytes); };
    if (send != at(rank_)) std::memcpy(at(rank_), send, static_cast<size_t>(bytes));
    for (int distance = 1; distance < ranks_; distance *= 2) {
      const int mine = rank_ & ~(distance - 1), partner = rank_ ^ distance;
      MPI_Sendrecv(at(mine), bytes * distance, MPI_BYTE, partner, 0, at(mine ^ distance), bytes * distance, MPI_BYTE,
                   partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }

  int rank_ = 0, ranks_ = 1;
  Case shape_;
  bool inPlace_ = false;
  std::vector<int> counts_, offsets_;
  std::atomic<uint64_t> calls_{0};  // odd: inside one
  std::jthread watchdog_;
};

}  // namespace dfccl::bench
