#pragma once
// The border of the C API: codes and a string a thread outside, exceptions inside.
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "base/error.hpp"

namespace dfccl::c_api {

/// Keeps `text` for dfcclGetLastError() on this thread, cut to what fits. Allocates nothing. @return `status`.
dfcclResult_t fail(dfcclResult_t status, const char* text) noexcept;

/// Runs the body of a C function. Nothing it throws gets past.
template <class Body>
dfcclResult_t guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const Error& e) {
    return fail(e.status(), e.what());
  } catch (const std::bad_alloc&) {
    return fail(dfcclOutOfMemory, "The process is out of memory. Free some, or open smaller worlds.");
  } catch (const std::system_error& e) {
    return fail(dfcclSystemError, e.what());
  } catch (const std::exception& e) {
    return fail(dfcclSystemError, e.what());
  }
}

[[noreturn]] inline void refuseArgument(const std::string& what, const std::string& remedy, Error::Facts facts = {}) {
  throw Error(dfcclInvalidArgument, what, remedy, std::move(facts));
}

}  // namespace dfccl::c_api
