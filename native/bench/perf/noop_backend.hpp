#pragma once
// Does nothing, so that what is left is the harness itself.
#include "perf/backend.hpp"

namespace dfccl::bench {

class NoopBackend : public Backend {
 public:
  explicit NoopBackend(uint32_t ranks) : ranks_(ranks) {}
  const char* name() const override { return "noop"; }
  std::string version() const override { return "0"; }
  uint32_t ranks() const override { return ranks_; }
  void prepare(const Case&, bool, uint32_t) override {}
  void release() override {}
  void enqueue(uint32_t, uint32_t, const void*, void*) override {}
  void complete(uint32_t, uint32_t) override {}

 private:
  uint32_t ranks_;
};

}  // namespace dfccl::bench
