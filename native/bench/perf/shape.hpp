#pragma once
// What each program of the collective tests moves: buffers, counts, what in place means, and what must arrive.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/types.hpp"
#include "perf/exact_data.hpp"

namespace dfccl::bench {

enum class Test : uint8_t {
  allReduce,
  allGather,
  reduceScatter,
  reduce,
  broadcast,
  allToAll,
  allToAllV,
  gather,
  scatter,
  sendRecv,
  hypercube
};

inline constexpr std::array<const char*, 11> kTestNames = {"all_reduce", "all_gather", "reduce_scatter", "reduce",
                                                           "broadcast",  "alltoall",   "alltoallv",      "gather",
                                                           "scatter",    "sendrecv",   "hypercube"};

constexpr bool reduces(Test t) { return t == Test::allReduce || t == Test::reduceScatter || t == Test::reduce; }
constexpr bool hasRoot(Test t) {
  return t == Test::reduce || t == Test::broadcast || t == Test::gather || t == Test::scatter;
}

/// One measurement: `count` is what the collective's own call would be given.
struct Case {
  Test test = Test::allReduce;
  uint32_t ranks = 1;
  uint64_t count = 0;
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  uint32_t root = 0;
  bool isWarmUp = false;
  bool isForBuffers = false;  // not measured: the buffers are large enough for it, too
  uint32_t iterations = 0;    // 0: as many as all others
  uint32_t program = 0;       // of those that the cases choose among, from 1; 0: what the library chooses

  size_t elementBytes() const { return sizeOf(type); }

  /// alltoallv: rank i sends rank j ((i + j) mod n) units, so that every rank sends and receives n * count in all and
  /// no two of its peers get the same. Units are whole 16 bytes.
  uint64_t unit() const {
    if (ranks == 1) return count;
    const uint64_t whole = 16 / elementBytes();
    return 2 * count / (ranks - 1) / whole * whole;
  }
  uint64_t unitsTo(uint32_t from, uint32_t to) const { return ranks == 1 ? 1 : (from + to) % ranks; }
  /// Where in `from`'s send buffer the part for `to` begins, in elements; also where in `to`'s receive buffer `from`'s
  /// part begins if the two change places, because unitsTo() is symmetric.
  uint64_t offsetOf(uint32_t from, uint32_t to) const {
    uint64_t units = 0;
    for (uint32_t i = 0; i < to; ++i) units += unitsTo(from, i);
    return units * unit();
  }

  uint64_t sendElements() const {
    switch (test) {
      case Test::reduceScatter:
      case Test::scatter:
      case Test::allToAll:
        return ranks * count;
      case Test::allToAllV:
        return offsetOf(0, ranks);
      default:
        return count;
    }
  }
  uint64_t recvElements() const {
    switch (test) {
      case Test::allGather:
      case Test::gather:
      case Test::hypercube:
      case Test::allToAll:
        return ranks * count;
      case Test::allToAllV:
        return offsetOf(0, ranks);
      default:
        return count;
    }
  }
  /// In place, both buffers lie in one: where each begins, in elements.
  uint64_t sendOffset(uint32_t rank) const {
    return test == Test::allGather || test == Test::gather || test == Test::hypercube ? rank * count : 0;
  }
  uint64_t recvOffset(uint32_t rank) const {
    return test == Test::reduceScatter || test == Test::scatter ? rank * count : 0;
  }
  bool isSent(uint32_t rank) const { return (test != Test::broadcast && test != Test::scatter) || rank == root; }
  bool isReceived(uint32_t rank) const { return (test != Test::reduce && test != Test::gather) || rank == root; }
  /// As in the reference, whose in-place forms of these overwrite what is still to be sent.
  bool isChecked(bool inPlace) const {
    return !inPlace || (test != Test::allToAll && test != Test::allToAllV && test != Test::sendRecv);
  }
  ExactData data(uint64_t seed) const { return ExactData(type, reduces(test) ? op : ReduceOp::max, ranks, seed); }

  static constexpr uint32_t kReduced = ~0u;
  /// What `rank` must receive: visit(at, first, count, source) says that from element `at` on lie elements `first` … of
  /// what the rank `source` gives, or of all ranks' reduction (kReduced).
  template <class Visit>
  void forEachExpected(uint32_t rank, const Visit& visit) const {
    const uint64_t none = 0;
    switch (test) {
      case Test::allReduce:
      case Test::reduce:
        return visit(none, none, count, kReduced);
      case Test::reduceScatter:
        return visit(none, rank * count, count, kReduced);
      case Test::broadcast:
        return visit(none, none, count, root);
      case Test::scatter:
        return visit(none, rank * count, count, root);
      case Test::sendRecv:
        return visit(none, none, count, (rank + ranks - 1) % ranks);
      case Test::allGather:
      case Test::gather:
      case Test::hypercube:
        for (uint32_t from = 0; from < ranks; ++from) visit(from * count, none, count, from);
        return;
      case Test::allToAll:
        for (uint32_t from = 0; from < ranks; ++from) visit(from * count, rank * count, count, from);
        return;
      case Test::allToAllV:
        for (uint32_t from = 0; from < ranks; ++from) {
          visit(offsetOf(rank, from), offsetOf(from, rank), unitsTo(from, rank) * unit(), from);
        }
        return;
    }
  }
};

}  // namespace dfccl::bench
