// Receives from whichever rank sends first.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support.hpp"

using namespace dfccl::gpu::test;

TEST_CASE("a rank receives from any other, and is told from whom") {
  constexpr size_t kCount = 100;
  const GpuRanks ranks;
  const int n = ranks.size();
  std::vector<dfcclGroup_t> groups(static_cast<size_t>(n));
  for (int r = 0; r < n; ++r) CHECK_OK(dfcclGroupCreate(nullptr, 0, 0, &groups[static_cast<size_t>(r)], ranks[r]));
  std::vector<std::unique_ptr<DeviceArray<int32_t>>> sent, received;
  std::vector<dfcclRequest_t> requests(static_cast<size_t>(n));
  std::vector<int> sources(static_cast<size_t>(n), -2);
  for (int r = 0; r < n; ++r) {
    sent.push_back(std::make_unique<DeviceArray<int32_t>>(ranks.device(r), kCount));
    received.push_back(std::make_unique<DeviceArray<int32_t>>(ranks.device(0), kCount));
    sent.back()->set(std::vector<int32_t>(kCount, 10 + r));
  }
  for (size_t i = 0; i + 1 < requests.size(); ++i) {
    CHECK_OK(dfcclRecvAny(received[i]->data(), kCount, dfcclInt32, &sources[i], groups[0], 0, &requests[i]));
  }
  for (int i = 0; i < 20; ++i) CHECK_OK(dfcclPoll(nullptr, ranks[0]));
  for (int r = n; --r > 0;) {
    const auto at = static_cast<size_t>(r);
    CHECK(sources[0] == -1);
    CHECK_OK(dfcclSend(sent[at]->data(), kCount, dfcclInt32, 0, groups[at], 0, nullptr, nullptr));
  }
  CHECK_OK(dfcclWaitRuns(requests.data(), n - 1, 0));
  std::set<int> seen;
  for (size_t i = 0; i + 1 < requests.size(); ++i) {
    seen.insert(sources[i]);
    CHECK(received[i]->get() == std::vector<int32_t>(kCount, 10 + sources[i]));
  }
  CHECK(seen.size() == static_cast<size_t>(n - 1));
  CHECK_OK(ranks.waitAll());
  for (const dfcclGroup_t group : groups) CHECK_OK(dfcclGroupDestroy(group));
}

TEST_CASE("what a rank receives from any other must be its device's memory, which is looked at when it asks") {
  const GpuRanks ranks;
  dfcclGroup_t group = nullptr;
  CHECK_OK(dfcclGroupCreate(nullptr, 0, 0, &group, ranks[0]));
  std::vector<int32_t> host(100);
  int source = -2;
  dfcclRequest_t request = nullptr;
  CHECK(dfcclRecvAny(host.data(), host.size(), dfcclInt32, &source, group, 0, &request) == dfcclInvalidArgument);
  CHECK(std::string(dfcclGetLastError()).find("is not device memory") != std::string::npos);
  CHECK(source == -1);
  CHECK(request == nullptr);
  CHECK_OK(dfcclGroupDestroy(group));
}
