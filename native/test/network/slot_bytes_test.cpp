// How many bytes of a slot travel, and what it takes to know that.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "daemon/support/programs.hpp"
#include "network/remote_end.hpp"
#include "program/program_loader.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

thread_local size_t largest = 0;  // that was asked for

}  // namespace

// Not inlined: the compiler would take what one of them calls for a mismatch with the other.
[[gnu::noinline]] void* operator new(size_t bytes) {
  largest = std::max(largest, bytes);
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

TEST_CASE("every tile's slots carry what the program puts in, the last one's too") {
  for (const Protocol protocol : everyProtocol()) {
    CAPTURE(static_cast<int>(protocol));
    for (const uint64_t count : {1, 2048, 2049, 10'000}) {
      CAPTURE(count);
      const auto program = loadProgram(ringAllReduce(protocol, 2)(0), DataType::float32, count, {4096, 4096});
      const Connector connector{nullptr, nullptr, 2, 8192, nullptr};
      const SlotBytes bytes(*program, 0);
      uint64_t position = 0;
      for (int run = 0; run < 2; ++run) {
        for (uint32_t tile = 0; tile < program->tiles; ++tile) {
          const uint64_t elements = program->elementsOfTile({0, program->chunkElements}, tile);
          const size_t expected = std::max(lineBytes(protocol), wireBytes(protocol, elements * sizeof(float)));
          for (int step = 0; step < 2; ++step) CHECK(bytes.at(position++, connector) == expected);
        }
      }
    }
  }
}

TEST_CASE("to know it takes no more memory for many tiles than for few") {
  const auto program =
      loadProgram(ringAllReduce(Protocol::simple, 2)(0), DataType::int8, uint64_t{1} << 32, {4096, 4096});
  REQUIRE(program->tiles >= 1 << 19);
  largest = 0;
  const SlotBytes bytes(*program, 0);
  CHECK(largest < 1024);
}
