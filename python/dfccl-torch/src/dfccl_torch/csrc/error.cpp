#include "error.hpp"

#include <c10/util/Exception.h>

#include <algorithm>
#include <string_view>

#include "known_names.hpp"

namespace dfccl_torch {
namespace {

bool namesFunction(std::string_view sentence) {
  constexpr std::string_view kPrefix = "dfccl";
  for (size_t at = sentence.find(kPrefix); at != std::string_view::npos; at = sentence.find(kPrefix, at + 1)) {
    const size_t next = at + kPrefix.size();
    if (next < sentence.size() && sentence[next] >= 'A' && sentence[next] <= 'Z') return true;
  }
  return false;
}

}  // namespace

/// Without what names functions of C, of which Python has other ones or none.
std::string lastWords() {
  const std::string text = dfcclGetLastError();
  std::string kept;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(". ", begin), text.size() - 1) + 1;
    const std::string sentence = text.substr(begin, end - begin);
    if (!namesFunction(sentence)) kept += (kept.empty() ? "" : " ") + sentence;
    begin = end + 1;
  }
  return withNames(kept);
}

void check(dfcclResult_t result, const std::string& what) {
  if (result == dfcclSuccess) return;
  C10_THROW_ERROR(DistBackendError, "dfccl, " + what + ": " + lastWords());
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
