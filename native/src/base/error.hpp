#pragma once
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "dfccl/status.h"

namespace dfccl {

/// A failure as a user meets it: what, where, and what to do. Crosses the C API as a code and a string, the addon as a
/// typed error with facts.
class Error : public std::exception {
 public:
  using Facts = std::vector<std::pair<std::string, std::string>>;

  Error(dfcclResult_t status, std::string message, std::string remedy, Facts facts = {})
      : status_(status), message_(std::move(message)), remedy_(std::move(remedy)), facts_(std::move(facts)) {
    what_ = message_ + " " + remedy_;
  }

  const char* what() const noexcept override { return what_.c_str(); }
  dfcclResult_t status() const { return status_; }
  const std::string& message() const { return message_; }
  const std::string& remedy() const { return remedy_; }
  const Facts& facts() const { return facts_; }

 private:
  dfcclResult_t status_;
  std::string message_, remedy_, what_;
  Facts facts_;
};

}  // namespace dfccl
