#pragma once
// Which case comes next: all of them in order, so and so often; or what a stream (standard input) asks for, a row's
// number a line, so that programs which measure different libraries take turns.
#include <cstdint>
#include <cstdio>
#include <optional>

#include "perf/backend.hpp"

namespace dfccl::bench {

struct Turn {
  size_t row = 0;
  uint32_t cycle = 0;

  /// For other processes, in which 0 is none. @pre rows and cycles are fewer than 2^31
  static uint64_t packed(const std::optional<Turn>& turn) {
    return turn ? uint64_t{turn->row} << 32 | uint64_t{turn->cycle} << 1 | 1 : 0;
  }
  static std::optional<Turn> unpacked(uint64_t word) {
    if (word == 0) return std::nullopt;
    return Turn{static_cast<size_t>(word >> 32), static_cast<uint32_t>(word) >> 1};
  }
};

class Turns {
 public:
  /// @param cycles 0: for ever. @param asked says what comes next; null: nothing does.
  Turns(size_t rows, uint32_t cycles, std::FILE* asked) : rows_(rows), cycles_(cycles), asked_(asked) {}

  /// None: it is over. @throws PerfError where what is asked for is no row.
  std::optional<Turn> next() {
    if (rows_ == 0) return std::nullopt;
    if (asked_ != nullptr) return readTurn();
    if (row_ == rows_) {
      row_ = 0;
      ++cycle_;
    }
    if (cycles_ != 0 && cycle_ == cycles_) return std::nullopt;
    return Turn{row_++, cycle_};
  }

 private:
  std::optional<Turn> readTurn() const {
    size_t row = 0;
    unsigned cycle = 0;
    const int read = std::fscanf(asked_, "%zu %u", &row, &cycle);
    if (read == EOF) return std::nullopt;
    if (read == 2 && row < rows_) return Turn{row, cycle};
    throw PerfError(Exit::invalidUsage, "Standard input must hold lines of a row and a cycle.");
  }

  size_t rows_, row_ = 0;
  uint32_t cycles_, cycle_ = 0;
  std::FILE* asked_;
};

}  // namespace dfccl::bench
