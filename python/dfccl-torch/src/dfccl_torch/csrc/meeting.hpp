#pragma once
#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace dfccl_torch {

/// Of ranks on several machines.
struct Meeting {
  // Rank 0's machine, where this rank reaches it; on rank 0 itself, where it listens. Empty: all ranks are on one
  // machine.
  std::string host;
  std::string secret;   // that all ranks know
  std::string machine;  // this one's name

  bool isOfSeveral() const { return !host.empty(); }
};

/// A port of this machine that is this process's for as long as this lives, and that a listener of its own may have.
class OwnPort {
 public:
  /// @throws DistBackendError
  OwnPort();
  ~OwnPort();
  OwnPort(const OwnPort&) = delete;
  OwnPort& operator=(const OwnPort&) = delete;

  int number() const { return number_; }

 private:
  int socket_ = -1;
  int number_ = 0;
};

/// Where the ranks of a job meet, as the C API takes it: rank 0 tells the others its port.
/// @param port rank 0's; null on the others
std::string addressOf(const Meeting& meeting, const OwnPort* port, c10d::Store& store, const std::string& job,
                      std::chrono::milliseconds timeout);

}  // namespace dfccl_torch
