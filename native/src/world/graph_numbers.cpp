#include "world/graph_numbers.hpp"

#include <cstdlib>
#include <cstring>

namespace dfccl {

bool GraphNumbers::isOneForAll() {
  static const bool isSaid = [] {
    const char* const said = std::getenv("DFCCL_MATCH_GRAPHS");
    return said != nullptr && std::strcmp(said, "launches") == 0;
  }();
  return isSaid;
}

}  // namespace dfccl
