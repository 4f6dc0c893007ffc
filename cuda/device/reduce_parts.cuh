#pragma once
// The receiving half of an exchange: all workers look for their lines of every member's part, vote, and only then
// reduce. Where a worker has few lines, exchange_held.cuh looks and votes, and only its lines are reduced here.
#include "exchange_lines.cuh"
#include "reduce_copy.cuh"
#include "team_vote.cuh"

namespace dfccl::gpu {

template <class T>
class TeamPartsReduction {
 public:
  using Value = typename Folding<T>::Value;
  static constexpr int kPerLine = kLinePayload / sizeof(T);
  // Looks before the vote: what all members send at once comes within a microsecond or two.
  static constexpr int kLooks = 12;

  __device__ TeamPartsReduction(ReduceOp op, const Exchange& e)
      : e_(e),
        folding_(op, e.scales, e.divisor),
        parts_(e.incoming(0)),
        bytes_(e.count * sizeof(T)),
        lines_(linesOf(bytes_)) {}

  /// One line of every member's. @return the reduced line.
  template <ReduceOp op>
  __device__ uint64_t foldLine(const uint64_t* parts) const {
    Value values[kPerLine];
#pragma unroll 1
    for (uint32_t m = 0; m < e_.members; ++m) fold<op>(values, parts[m], static_cast<int>(m));
    Elements result;
#pragma unroll
    for (int i = 0; i < kPerLine; ++i) result.items[i] = folding_.finish(values[i]);
    return __builtin_bit_cast(uint64_t, result);
  }

  /// All lines. @return whether they are there.
  template <ReduceOp op>
  __device__ bool run() const {
    const uint32_t flag = Ll::flagOf(e_.run);
    uint64_t payload;
    bool isThere = true;
    int looks = kLooks;
    for (uint32_t m = 0; m < e_.members && isThere; ++m) {
      if (m == e_.member) continue;
      for (uint64_t line = threadIdx.x; line < lines_ && isThere; line += kWorkers) {
        while (!(isThere = loadLine(lineOf(m, line), flag, payload)) && --looks > 0) {
        }
      }
    }
    if (!isUnanimous(isThere)) return false;
    for (uint64_t line = threadIdx.x; line < lines_; line += kWorkers) {
      Value values[kPerLine];
      for (uint32_t m = 0; m < e_.members; ++m) {
        if (m == e_.member) {
          payload = loadPayload(e_.own, line, bytes_);
        } else {
          loadLine(lineOf(m, line), flag, payload);
        }
        fold<op>(values, payload, static_cast<int>(m));
      }
      store(line, values);
    }
    return true;
  }

 private:
  struct alignas(8) Elements {
    T items[kPerLine];
  };

  template <ReduceOp op>
  __device__ void fold(Value (&values)[kPerLine], uint64_t payload, int source) const {
    const auto stored = __builtin_bit_cast(Elements, payload);
#pragma unroll
    for (int i = 0; i < kPerLine; ++i) folding_.template foldInto<op>(values[i], stored.items[i], source);
  }

  __device__ void store(uint64_t line, const Value (&values)[kPerLine]) const {
    Elements result;
#pragma unroll
    for (int i = 0; i < kPerLine; ++i) result.items[i] = folding_.finish(values[i]);
    uint8_t* const to = static_cast<uint8_t*>(e_.result) + line * kLinePayload;
    if ((reinterpret_cast<uint64_t>(to) & 7) == 0 && (line + 1) * kLinePayload <= bytes_) {
      *reinterpret_cast<uint64_t*>(to) = __builtin_bit_cast(uint64_t, result);
      return;
    }
#pragma unroll
    for (int i = 0; i < kPerLine; ++i) {
      if (line * kPerLine + i < e_.count) reinterpret_cast<T*>(to)[i] = result.items[i];
    }
  }

  /// Where a line of a member's part lies.
  __device__ const uint8_t* lineOf(uint32_t member, uint64_t line) const {
    return parts_ + member * e_.memberStride + line * kLineBytes;
  }

  const Exchange e_;  // not where it came from: in registers
  const Folding<T> folding_;
  const uint8_t* const parts_;
  const uint64_t bytes_;
  const uint64_t lines_;
};

}  // namespace dfccl::gpu
