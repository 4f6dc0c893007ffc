#pragma once
// Runs suites under the verifier and counts: a production type must hold in every execution tried, a control (one edge
// weakened, or one step left out) must fail in one of them. DFCCL_RELACY_TRACE=1 prints the failing executions step by
// step.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <ostream>
#include <streambuf>
#include <string>

#include "base/atomics.hpp"

namespace dfccl::test {

/// Waits in a way that the verifier's scheduler understands: others go first, and their stores arrive.
inline void pause() { rl::yield(1, $); }

/// Fails the execution being tried.
inline void require(bool condition, const char* what) {
  if (!condition) rl::ctx().fail_test(what, rl::test_result_user_assert_failed, $);
}

class RelacyReport {
 public:
  explicit RelacyReport(const char* subject) { std::printf("%s\n  %-52s %s\n", subject, "edge or step", "result"); }

  template <class Suite>
  void holds(const char* name) {
    const rl::test_params run = explore<Suite>(kExecutions);
    const bool ok = run.test_result == rl::test_result_success;
    print(name, ok, ok ? "holds" : std::string("FAILS: ") + rl::test_result_str(run.test_result), run);
  }

  template <class Suite>
  void isCaught(const char* name) {
    const rl::test_params run = explore<Suite>(kExecutions * 4);
    const bool ok = run.test_result != rl::test_result_success;
    print(name, ok, ok ? std::string("caught: ") + rl::test_result_str(run.test_result) : "NOT CAUGHT", run);
  }

  /// Exit status of the program.
  int finish() const {
    std::printf("%d passed, %d failed\n", passed_, failed_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  static constexpr unsigned kExecutions = 20000;

  struct Discard : std::streambuf {
    int overflow(int c) override { return c == traits_type::eof() ? 0 : c; }
  };

  template <class Suite>
  static rl::test_params explore(unsigned executions) {
    // A history is printed inside the verifier, which replaces operator new: the stream must not allocate.
    Discard discard;
    std::ostream nowhere(&discard);
    std::ostream& log = std::getenv("DFCCL_RELACY_TRACE") != nullptr ? std::cerr : nowhere;
    rl::test_params params;
    params.iteration_count = executions;
    params.output_stream = &log;
    params.progress_stream = &log;
    params.execution_depth_limit = 20000;
    rl::simulate<Suite>(params);
    return params;
  }

  void print(const char* name, bool ok, const std::string& result, const rl::test_params& run) {
    ++(ok ? passed_ : failed_);
    std::printf("  %-52s %s (execution %llu)\n", name, result.c_str(),
                static_cast<unsigned long long>(run.stop_iteration));
    std::fflush(stdout);
  }

  int passed_ = 0;
  int failed_ = 0;
};

}  // namespace dfccl::test
