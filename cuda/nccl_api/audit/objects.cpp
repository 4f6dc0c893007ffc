// Loaded by LD_AUDIT into programs that are to find dfccl's libnccl.so.2 (DFCCL_NCCL_LIBRARY) wherever they look for
// NCCL: by name, in a library's list of what it needs, or by a path. LD_PRELOAD leaves the last to the file that is
// there, which is then mapped as well; and who looks for NCCL among what is mapped may take that.
#include <link.h>

#include <cstdlib>
#include <cstring>

namespace {

bool isNccl(const char* name) {
  constexpr char kName[] = "libnccl.so";
  constexpr size_t kLength = sizeof kName - 1;
  const char* const slash = std::strrchr(name, '/');
  const char* const base = slash == nullptr ? name : slash + 1;
  if (std::strncmp(base, kName, kLength) != 0) return false;
  const char* const version = base + kLength;  // "", ".2" or ".2.28.3"
  return *version == '\0' || (std::strncmp(version, ".2", 2) == 0 && (version[2] == '\0' || version[2] == '.'));
}

}  // namespace

extern "C" {

unsigned int la_version(unsigned int version) { return version < LAV_CURRENT ? version : LAV_CURRENT; }

char* la_objsearch(const char* name, uintptr_t* cookie, unsigned int) {
  // By itself the loader's cookie of an object is its link_map. That library may itself open NVIDIA's
  // (DFCCL_REAL_NCCL), by the path by which a program would.
  const auto* const asking = reinterpret_cast<const link_map*>(*cookie);
  const bool isOurs = asking != nullptr && asking->l_name != nullptr && isNccl(asking->l_name);
  const char* const ours = std::getenv("DFCCL_NCCL_LIBRARY");
  const bool isRedirected = isNccl(name) && !isOurs && ours != nullptr && *ours != '\0';
  return const_cast<char*>(isRedirected ? ours : name);
}

}  // extern "C"
