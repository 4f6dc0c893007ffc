#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

#include "child.hpp"
#include "outcomes.hpp"

namespace {

void endWithoutCase(const doctest::AssertData& data) {
  if (!data.m_failed) return;
  std::fprintf(stderr, "%s:%d: %s doesn't hold\n", data.m_file, data.m_line, data.m_expr);
  std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const char* child = std::getenv("DFCCL_TEST_CHILD");
  if (child == nullptr) {
    const int code = context.run();
    const auto& [passed, failed, skipped] = dfccl::gpu::test::outcomes();
    if (passed + failed + skipped != 0) std::printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return code;
  }
  context.setAsDefaultForAssertsOutOfTestCases();
  context.setAssertHandler(endWithoutCase);
  return dfccl::gpu::test::Child::run(child) ? 0 : 2;
}
