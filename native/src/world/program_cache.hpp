#pragma once
// Programs that are in use, so that ranks and collectives which run the same one share it.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "program/program_loader.hpp"

namespace dfccl {

class ProgramCache {
 public:
  explicit ProgramCache(const TileSizes& tiles) : tiles_(tiles) {}

  /// The program, as it is for so many elements; the one that somebody holds already, if anybody does.
  /// @throws Error as loadProgram().
  std::shared_ptr<const BoundProgram> get(std::span<const uint8_t> bytes, DataType type, uint64_t count);

  /// Programs that it knows of, those included that nobody holds any more: at most twice as many as were held at some
  /// moment since they were last looked through, or a few.
  size_t size() const { return programs_.size(); }

 private:
  static constexpr size_t kFew = 64;

  /// Forgets what nobody holds; seldom enough to cost nothing a program.
  void sweep();

  const TileSizes tiles_;
  std::unordered_map<std::string, std::weak_ptr<const BoundProgram>> programs_;
  size_t sweepAt_ = kFew;
};

}  // namespace dfccl
