#include "nccl_api/calls/environment.hpp"

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "nccl_api/universe/failure.hpp"

namespace dfccl::nccl {
namespace {

std::string_view saidBy(const char* name) {
  const char* const said = std::getenv(name);
  return said == nullptr ? std::string_view() : said;
}

[[noreturn]] void refuse(const char* name, std::string_view said, const std::string& remedy) {
  refuseArgument(std::string(name) + " is " + std::string(said) + ".", remedy);
}

void checkChoice(const char* name, std::string_view only) {
  const std::string_view said = saidBy(name);
  if (!said.empty() && said != only) refuse(name, said, "Allowed: " + std::string(only) + ", or leave it out.");
}

}  // namespace

std::optional<uint64_t> numberOfEnvironment(const char* name, const char* unit) {
  const std::string_view said = saidBy(name);
  if (said.empty()) return std::nullopt;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), number);
  if (end != said.data() + said.size() || error == std::errc::invalid_argument) {
    refuse(name, said, "Give a whole number of " + std::string(unit) + ", or leave it out.");
  }
  return error == std::errc::result_out_of_range ? UINT64_MAX : number;
}

void checkEnvironment() {
  numberOfEnvironment("DFCCL_JOIN_TIMEOUT", "seconds");
  checkChoice("DFCCL_MATCH", "position");
  checkChoice("DFCCL_MATCH_GRAPHS", "launches");
}

}  // namespace dfccl::nccl
