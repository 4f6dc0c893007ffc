#pragma once
// NCCL, a GPU for each rank, in this process or several.
#include <string>
#include <vector>

#include "nccl/nccl.hpp"
#include "perf/backend_of_processes.hpp"

namespace dfccl::gpu::measure {

class NcclBackend final : public bench::BackendOfProcesses {
 public:
  struct Options {
    std::string library;
    std::vector<int> devices;  // of this process's ranks
    uint32_t ranksPerThread = 1;
    double timeoutSeconds = 0;  // 0: none
    bench::Memory* memory = nullptr;
    bench::ProcessGroup* group = nullptr;
  };

  /// @throws bench::PerfError, Error
  explicit NcclBackend(const Options& options);

  const char* name() const override { return "nccl"; }
  std::string version() const override { return nccl_.library().versionText(); }
  bench::Memory& memory() override { return *options_.memory; }
  std::string refusal(const bench::Case& shape, bool inPlace) const override;
  bool isExact(const bench::Case& shape) const override;

  void attachThread(uint32_t firstRank) override;
  void prepare(const bench::Case& shape, bool inPlace, uint32_t concurrent) override;
  void release() override;
  void openGroup(uint32_t operations) override;
  void closeGroup(uint32_t operations) override;
  void enqueue(uint32_t rank, uint32_t which, const void* send, void* recv) override;
  void complete(uint32_t firstRank, uint32_t count) override;

 private:
  void check(int result, const char* call) const;
  void sendAndReceive(uint32_t rank, const char* send, char* recv);
  void hypercube(uint32_t rank, const char* send, char* recv);
  void await(uint32_t rank) const;
  uint32_t localOf(uint32_t rank) const { return rank - firstRank(); }
  NcclCommunicator communicatorOf(uint32_t rank) const { return nccl_.communicator(localOf(rank)); }
  cudaStream_t streamOf(uint32_t rank) const { return nccl_.stream(localOf(rank)); }

  Options options_;
  Nccl nccl_;
  bench::Case shape_;
  std::vector<int> ops_;  // [rank of this process]
};

}  // namespace dfccl::gpu::measure
