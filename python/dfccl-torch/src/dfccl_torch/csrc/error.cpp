#include "error.hpp"

#include <c10/util/Exception.h>

namespace dfccl_torch {

void check(dfcclResult_t result, const std::string& what) {
  if (result == dfcclSuccess) return;
  C10_THROW_ERROR(DistBackendError, "dfccl, " + what + ": " + dfcclGetLastError());
}

void refuse(const std::string& what, const std::string& remedy) {
  C10_THROW_ERROR(DistBackendError, "dfccl: " + what + " " + remedy);
}

std::exception_ptr distributedError(const std::string& text) {
  try {
    C10_THROW_ERROR(DistBackendError, text);
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace dfccl_torch
