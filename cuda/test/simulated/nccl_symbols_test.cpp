// What programs find in libnccl.so.2 that look its functions up by their names, before they call any.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "child.hpp"
#include "entry_points.hpp"

namespace {

#define DFCCL_NAME(name) #name,
const char* const kNames[] = {DFCCL_NCCL_FUNCTIONS(DFCCL_NAME)};
#undef DFCCL_NAME

/// The library over simulated devices, as it is built beside this program.
void* open() {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string path = self.parent_path().parent_path() / "simulated" / "libnccl.so.2";
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  INFO(dlerror());
  REQUIRE(library != nullptr);
  return library;
}

}  // namespace

TEST_CASE("each function is there, and its twin is the same") {
  void* const library = open();
  std::set<std::string> names;
  for (const char* name : kNames) {
    CAPTURE(name);
    names.insert(name);
    void* const found = dlsym(library, name);
    CHECK(found != nullptr);
    CHECK(dlsym(library, ("p" + std::string(name)).c_str()) == found);
  }
  CHECK(names.size() == 82);  // of NCCL 2.30.7
  dlclose(library);
}

TEST_CASE("nothing else leaves the library") {
  void* const library = open();
  CHECK(dlsym(library, "dfcclInit") == nullptr);
  dlclose(library);
}

namespace {

// In a process of its own, which has been told of five.
const dfccl::gpu::test::Child fiveQueues("five queues",
                                         [] { CHECK(std::string(std::getenv("CUDA_DEVICE_MAX_CONNECTIONS")) == "5"); });

}  // namespace

TEST_CASE("who has said how many hardware queues there are to be has as many") {
  using dfccl::gpu::test::runSelf;
  CHECK(
      runSelf({}, {{"CUDA_DEVICE_MAX_CONNECTIONS", "5"}, {"DFCCL_TEST_CHILD", "five queues"}}, std::chrono::seconds(60))
          .code == 0);
}

TEST_CASE("who loads the library gets as many hardware queues as there can be") {
  const char* const set = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  REQUIRE(set != nullptr);
  CHECK(std::string(set) == "32");
}
