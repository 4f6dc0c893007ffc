#pragma once
// Does nothing, so that what is left is the harness itself.
#include "perf/backend_of_processes.hpp"

namespace dfccl::bench {

class NoopBackend : public BackendOfProcesses {
 public:
  using BackendOfProcesses::BackendOfProcesses;
  const char* name() const override { return "noop"; }
  std::string version() const override { return "0"; }
  void prepare(const Case&, bool, uint32_t) override {}
  void release() override {}
  void enqueue(uint32_t, uint32_t, const void*, void*) override {}
  void complete(uint32_t, uint32_t) override {}
};

}  // namespace dfccl::bench
