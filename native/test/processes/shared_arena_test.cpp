// The memory of a segment: what is given back serves blocks of other sizes, too, and whatever is handed out is zeroed.
#include "processes/shared_arena.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include "base/error.hpp"

using namespace dfccl;

namespace {

constexpr size_t kPage = 4096;

class Memory {
 public:
  explicit Memory(size_t bytes) : bytes_(bytes) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    header.base = static_cast<uint8_t*>(memory);
    header.capacity = bytes;
  }
  ~Memory() { munmap(header.base, bytes_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  SharedArenaHeader header{};

 private:
  const size_t bytes_;
};

bool isFull(SharedArena& arena, size_t bytes) {
  try {
    arena.free(arena.allocate(bytes), bytes);
    return false;
  } catch (const Error& error) {
    CHECK(error.status() == dfcclOutOfMemory);
    return true;
  }
}

}  // namespace

TEST_CASE("small blocks that were given back make room for a large one, and the other way round") {
  Memory memory(64 * kPage);
  SharedArena arena(memory.header);
  std::vector<uint8_t*> pages;
  for (int i = 0; i < 64; ++i) pages.push_back(arena.allocate(kPage));
  CHECK(isFull(arena, 1));
  for (uint8_t* page : pages) arena.free(page, kPage);
  CHECK(arena.usedBytes() == 0);
  uint8_t* const whole = arena.allocate(64 * kPage);
  CHECK(isFull(arena, 1));
  arena.free(whole, 64 * kPage);
  for (uint8_t*& page : pages) page = arena.allocate(kPage);
  CHECK(isFull(arena, 128));
  arena.free(pages[7], kPage);
  for (size_t i = 0; i < kPage / 128; ++i) arena.allocate(128);
  CHECK(isFull(arena, 128));
}

TEST_CASE("what lies behind all blocks joins those before it") {
  Memory memory(64 * kPage);
  SharedArena arena(memory.header);
  uint8_t* const low = arena.allocate(32 * kPage);
  arena.free(arena.allocate(16 * kPage), 16 * kPage);
  CHECK(arena.allocate(32 * kPage) != low);
  CHECK(isFull(arena, 1));
}

TEST_CASE("random sizes never overlap, are zeroed, and leave nothing behind") {
  constexpr size_t kBytes = 256 * kPage;
  Memory memory(kBytes);
  SharedArena arena(memory.header);
  std::minstd_rand random(7);
  struct Block {
    uint8_t* begin;
    size_t bytes;
    uint8_t mark;
  };
  std::vector<Block> blocks;
  size_t dirty = 0, overwritten = 0;
  const auto isAll = [](const Block& block, uint8_t value) {
    return std::ranges::all_of(std::span(block.begin, block.bytes), [&](uint8_t byte) { return byte == value; });
  };
  const auto give = [&](size_t at) {
    overwritten += !isAll(blocks[at], blocks[at].mark);
    arena.free(blocks[at].begin, blocks[at].bytes);
    blocks[at] = blocks.back();
    blocks.pop_back();
  };
  for (int step = 0; step < 4000; ++step) {
    const size_t bytes = size_t{1} << (7 + random() % 12);
    try {
      const Block block{arena.allocate(bytes), bytes, static_cast<uint8_t>(1 + random() % 255)};
      dirty += !isAll(block, 0);
      std::ranges::fill(std::span(block.begin, bytes), block.mark);
      blocks.push_back(block);
    } catch (const Error&) {
      if (!blocks.empty()) give(random() % blocks.size());
    }
    if (random() % 3 == 0 && !blocks.empty()) give(random() % blocks.size());
  }
  while (!blocks.empty()) give(blocks.size() - 1);
  CHECK(dirty == 0);
  CHECK(overwritten == 0);
  CHECK(arena.usedBytes() == 0);
}
