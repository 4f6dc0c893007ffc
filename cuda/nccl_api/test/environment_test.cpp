// What the environment says that makes no sense is refused where a communicator is made.
#include <cstdlib>
#include <string>

#include "nccl_api/calls/communicator.hpp"
#include "nccl_api/test/ranks.hpp"
#include "nccl_api/universe/failure.hpp"

using namespace dfccl::nccl::test;
using dfccl::nccl::Config;

namespace {

/// Of this process, as long as it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    const char* const said = std::getenv(name);
    wasSet_ = said != nullptr;
    if (wasSet_) former_ = said;
    setenv(name, value, 1);
  }
  ~Variable() { wasSet_ ? setenv(name_, former_.c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
  bool wasSet_;
  std::string former_;
};

}  // namespace

TEST_CASE("variables that say what they can't are named, with what they say") {
  for (const auto& [name, value] : {std::pair{"DFCCL_BYTES_IN_STREAMS", "1M"},
                                    {"DFCCL_BYTES_IN_STREAMS", "-3"},
                                    {"DFCCL_BYTES_IN_STREAMS", " 5"},
                                    {"DFCCL_JOIN_TIMEOUT", "5m"},
                                    {"DFCCL_MATCH", "positon"},
                                    {"DFCCL_MATCH_GRAPHS", "Launches"}}) {
    INFO(name, "=", value);
    const Variable variable(name, value);
    ncclComm_t comm = nullptr;
    CHECK(ncclCommInitRank(&comm, 1, newId(), 0) == ncclInvalidArgument);
    const std::string said = ncclGetLastError(nullptr);
    CHECK(said.find(std::string(name) + " is " + value + ".") != std::string::npos);
    CHECK(comm == nullptr);
  }
}

TEST_CASE("variables that are empty count as unset") {
  const Variable bytes("DFCCL_BYTES_IN_STREAMS", ""), match("DFCCL_MATCH", ""), seconds("DFCCL_JOIN_TIMEOUT", "");
  CHECK(Config::read(nullptr).mostBytesInStreams == UINT64_MAX);
}
