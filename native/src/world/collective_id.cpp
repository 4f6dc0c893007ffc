#include "world/collective_id.hpp"

#include <cinttypes>
#include <cstdio>

namespace dfccl {

std::string CollectiveId::text() const {
  if (!isSignature()) return std::to_string(number);
  char text[48];
  std::snprintf(text, sizeof text, "of signature %016" PRIx64, high);
  return text;
}

}  // namespace dfccl
