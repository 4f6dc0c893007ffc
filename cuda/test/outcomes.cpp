#include "outcomes.hpp"

namespace dfccl::gpu::test {
namespace {

Outcomes counted;
bool isSkipped = false;

/// Hears of every case beside doctest's own reporter.
class Counter : public doctest::IReporter {
 public:
  explicit Counter(const doctest::ContextOptions&) {}

  void test_case_start(const doctest::TestCaseData&) override { isSkipped = false; }
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    ++(!stats.testCaseSuccess ? counted.failed : isSkipped ? counted.skipped : counted.passed);
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

REGISTER_LISTENER("outcomes", 1, Counter);

}  // namespace

const Outcomes& outcomes() { return counted; }

void skip(const std::string& reason) {
  isSkipped = true;
  MESSAGE("skipped: ", reason);
}

}  // namespace dfccl::gpu::test
