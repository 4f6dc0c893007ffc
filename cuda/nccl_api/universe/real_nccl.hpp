#pragma once
// Another libnccl, NVIDIA's, which is opened when a communicator is to be its own.
#include <string>
#include <type_traits>

#include "nccl_api/universe/failure.hpp"

namespace dfccl::nccl {

class RealNccl {
 public:
  /// Whether one is named (DFCCL_REAL_NCCL).
  static bool isNamed();
  /// Whether all communicators are to be its own (DFCCL_REAL_NCCL_FOR=all). @throws Failure ncclInvalidUsage: the
  /// variable says something else, or there is none.
  static bool isForAll();
  /// @throws Failure ncclSystemError: it can't be opened; ncclInvalidUsage: none is named, or that is this library.
  static RealNccl& open();
  /// @return null until it has been opened.
  static RealNccl* opened();

  const std::string& path() const { return path_; }
  /// Calls one of its functions. @throws Failure ncclInvalidUsage: it has none of that name.
  template <class Function, class... Arguments>
  std::invoke_result_t<Function*, Arguments...> call(const char* name, Arguments... arguments) const {
    return reinterpret_cast<Function*>(find(name))(arguments...);
  }
  /// @throws Failure with what it says of its last error, unless the result is a success or ncclInProgress.
  /// @return `result`
  ncclResult_t check(ncclResult_t result) const;

 private:
  RealNccl(std::string path, void* library) : path_(std::move(path)), library_(library) {}
  void* find(const char* name) const;

  const std::string path_;
  void* const library_;
};

}  // namespace dfccl::nccl
