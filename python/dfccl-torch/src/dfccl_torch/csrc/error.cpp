#include "error.hpp"

#include <c10/util/Exception.h>

#include <algorithm>
#include <regex>

#include "known_names.hpp"

namespace dfccl_torch {

std::string lastWords() {
  // Its remedies name functions of C, of which Python has other ones or none.
  static const std::regex namesFunction("dfccl[A-Z]");
  const std::string text = dfcclGetLastError();
  std::string kept;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(". ", begin), text.size() - 1) + 1;
    const std::string sentence = text.substr(begin, end - begin);
    if (!std::regex_search(sentence, namesFunction)) kept += (kept.empty() ? "" : " ") + sentence;
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
