#pragma once
#include <pthread.h>

namespace dfccl {

/// What debuggers and top call this thread. @param name at most 15 characters.
inline void nameThread(const char* name) {
#if defined(__APPLE__)
  pthread_setname_np(name);
#else
  pthread_setname_np(pthread_self(), name);
#endif
}

}  // namespace dfccl
