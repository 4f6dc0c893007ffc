#include "world/zeroed_table.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <deque>
#include <set>

namespace dfccl::test {
namespace {

TEST_CASE("tables with pages of their own begin at different places of a page, as zeros, each whole") {
  constexpr size_t kCount = 1 << 16;
  constexpr uintptr_t kPage = 4096;
  std::deque<ZeroedTable<uint64_t>> tables;
  std::set<uintptr_t> places;
  for (uint32_t i = 0; i < 16; ++i) {
    ZeroedTable<uint64_t>& table = tables.emplace_back(kCount);
    CHECK(table[0] == 0);
    CHECK(table[kCount - 1] == 0);
    table[0] = table[kCount - 1] = i + 1;
    CHECK(reinterpret_cast<uintptr_t>(table.data()) % 64 == 0);
    places.insert(reinterpret_cast<uintptr_t>(table.data()) % kPage);
  }
#if !defined(__SANITIZE_ADDRESS__)  // there a table has no pages of its own
  CHECK(places.size() == 16);
#endif
  for (uint32_t i = 0; i < 16; ++i) {
    CHECK(tables[i][0] == i + 1);
    CHECK(tables[i][kCount - 1] == i + 1);
  }
}

TEST_CASE("a table that grows keeps its items, and the others are zeros") {
  for (const size_t count : {size_t{3}, size_t{1} << 16}) {
    ZeroedTable<uint32_t> table(count);
    for (size_t i = 0; i < count; ++i) table[i] = static_cast<uint32_t>(i + 7);
    table.grow(2 * count);
    REQUIRE(table.size() == 2 * count);
    for (size_t i = 0; i < 2 * count; ++i) REQUIRE(table[i] == (i < count ? i + 7 : 0));
  }
}

}  // namespace
}  // namespace dfccl::test
