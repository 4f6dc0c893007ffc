// The trace that a program asks for.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "stream_members.hpp"

using namespace dfccl::gpu::test;

TEST_CASE("the trace of the last runs is a file that names every block of every rank") {
  const GpuRanks ranks;
  const std::vector<Member> members = membersOf(ranks, 1, 1000);
  std::vector<dfcclRankCtx_t> contexts;
  for (int i = 0; i < 5; ++i) {
    runAll(ranks, members, 1);
    CHECK_OK(ranks.waitAll());
  }
  for (int r = 0; r < ranks.size(); ++r) {
    CHECK_OK(dfcclSynchronize(ranks[r]));
    contexts.push_back(ranks[r]);
  }
  const std::string path = "/tmp/dfccl-trace-" + std::to_string(getpid()) + ".json";
  CHECK_OK(dfcclWriteTrace(path.c_str(), contexts.data(), ranks.size()));
  std::ifstream file(path);
  const std::string json((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::remove(path.c_str());
  for (const char* part : {"\"rank 0\"", "\"rank 1\"", "\"block 7\"", "\"submission queue\"", "\"stay\"",
                           "\"run taken\"", "\"completion posted\""}) {
    CAPTURE(part);
    CHECK(json.find(part) != std::string::npos);
  }
  CHECK(dfcclWriteTrace("/nowhere/trace.json", contexts.data(), 1) == dfcclSystemError);
}
