// The C API as a C++ program has it, from the static library.
#include <doctest/doctest.h>

#include <string>
#include <type_traits>

#include "dfccl/dfccl.h"

TEST_CASE("the header's version is a constant, and the library's own") {
  static_assert(DFCCL_VERSION_CODE == DFCCL_MAJOR * 10000 + DFCCL_MINOR * 100 + DFCCL_PATCH);
  int version = -1;
  CHECK(dfcclGetVersion(&version) == dfcclSuccess);
  CHECK(version == DFCCL_VERSION_CODE);
  const std::string text = std::to_string(DFCCL_MAJOR) + "." + std::to_string(DFCCL_MINOR) + ".";
  CHECK(std::string(dfcclVersion()).rfind(text, 0) == 0);
}

TEST_CASE("enumerations have the size that C gives them") {
  static_assert(std::is_same_v<std::underlying_type_t<dfcclResult_t>, int>);
  static_assert(sizeof(dfcclDataType_t) == sizeof(int) && sizeof(dfcclRedOp_t) == sizeof(int));
  CHECK(std::string(dfcclGetErrorString(static_cast<dfcclResult_t>(-1))) == "unknown result");
}

TEST_CASE("ranks say who they are, and reduce") {
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = 2;
  dfcclWorld_t world{};
  REQUIRE(dfcclWorldCreate(&config, &world) == dfcclSuccess);
  dfcclRankCtx_t ctx[2]{};
  float x[2] = {1, 2};
  for (int r = 0; r < 2; ++r) {
    REQUIRE(dfcclInitRank(world, r, &ctx[r]) == dfcclSuccess);
    int rank = -1, count = -1;
    CHECK(dfcclGetRank(&rank, ctx[r]) == dfcclSuccess);
    CHECK(dfcclGetRankCount(&count, ctx[r]) == dfcclSuccess);
    CHECK(rank == r);
    CHECK(count == 2);
    CHECK(dfcclRegisterAllReduce(1, dfcclFloat32, dfcclSum, 0, dfcclAllRanks(), 0, ctx[r]) == dfcclSuccess);
    CHECK(dfcclRunAllReduce(&x[r], &x[r], 0, nullptr, nullptr, ctx[r]) == dfcclSuccess);
  }
  CHECK(dfcclWaitAll(ctx, 2) == dfcclSuccess);
  CHECK(x[0] == 3);
  CHECK(x[1] == 3);
  for (const dfcclRankCtx_t c : ctx) CHECK(dfcclDestroy(c) == dfcclSuccess);
  CHECK(dfcclWorldDestroy(world) == dfcclSuccess);
}
