#pragma once
#include <chrono>
#include <string>

#include "source_line.hpp"

namespace dfccl_torch {

/// That an operation was issued and isn't known to be over, for whoever looks into a program that hangs.
class Outstanding {
 public:
  /// @param name a literal: what the operation is called. It was issued where the calling thread is.
  Outstanding(const char* name, const std::string& group, const std::string& tag);
  ~Outstanding();
  Outstanding(const Outstanding&) = delete;
  Outstanding& operator=(const Outstanding&) = delete;

  /// What a wait for it has found missing so far.
  void noteMissing(const std::string& words);
  const SourceLine& source() const { return source_; }

 private:
  friend std::string describeOutstanding();
  std::string text() const;

  const char* const name_;
  const std::string group_;
  const std::string tag_;
  const SourceLine source_;
  const std::chrono::steady_clock::time_point issued_;
  const pid_t process_;
  std::string missing_;
  Outstanding* before_;
  Outstanding* behind_ = nullptr;
};

/// A line for each of this process's, in the order in which they were issued; empty where there is none.
std::string describeOutstanding();

}  // namespace dfccl_torch
