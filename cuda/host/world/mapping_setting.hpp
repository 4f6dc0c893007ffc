#pragma once
#include <cstdlib>
#include <cstring>

namespace dfccl::gpu {

/// Whether whoever started the job says that its buffers may be mapped by peers while it runs, and runs wait for that.
inline bool mayMapBuffers() {
  const char* const said = std::getenv("DFCCL_MAP_BUFFERS");
  return said != nullptr && std::strcmp(said, "1") == 0;
}

}  // namespace dfccl::gpu
