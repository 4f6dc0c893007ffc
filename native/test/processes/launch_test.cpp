// What the environment tells a process of its job.
#include "opening/launch.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "base/error.hpp"

using namespace dfccl;

namespace {

using Variables = std::map<std::string, std::string>;

Environment environmentOf(const Variables& variables) {
  return [&variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

/// What `act` is refused with; empty where it isn't.
template <class Act>
std::string refusalOf(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST_CASE("the job's secret comes from a file, without the end of its line") {
  char path[] = "/tmp/dfccl-secret-XXXXXX";
  const int descriptor = mkstemp(path);
  REQUIRE(descriptor >= 0);
  close(descriptor);
  std::ofstream(path) << "0123456789abcdef\n";
  const Variables variables{{"DFCCL_JOB_SECRET_FILE", path}};
  CHECK(readSecret(environmentOf(variables)) == "0123456789abcdef");
  std::remove(path);
}

TEST_CASE("a secret's file that is missing, a folder, empty or endless is refused by name") {
  for (const char* path : {"/nothing/here", "/tmp", "/dev/null", "/dev/zero"}) {
    CAPTURE(path);
    const Variables variables{{"DFCCL_JOB_SECRET_FILE", path}};
    const std::string text = refusalOf([&] { (void)readSecret(environmentOf(variables)); });
    CHECK(text.find(std::string("can't be read from ") + path) != std::string::npos);
  }
}

TEST_CASE("a job without a name is told what to set, each variable once") {
  const Variables byHand{{"DFCCL_RANK", "0"}, {"DFCCL_WORLD_SIZE", "1"}};
  try {
    (void)readLaunch(environmentOf(byHand));
    FAIL("it has no name");
  } catch (const Error& error) {
    CHECK(error.remedy() == "Set DFCCL_JOB to the same in all processes of the job.");
  }
}

}  // namespace
