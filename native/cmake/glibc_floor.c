// Lets what was linked against a new glibc load on glibc 2.28 (x86-64 and arm64). See glibc_floor.cmake.
//
// WRAP(f, x86, arm) sends every call of f to the oldest version of f, by the version names that each machine's glibc
// gave it. TWIN(f) sends calls of f's C23 twin to f. REPLACE(type, f) stands for what 2.28 has not got at all. What
// isn't used is dropped by --gc-sections. CMake reads the names from the starts of these lines.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#if defined(__x86_64__)
#define OLDEST(x86, arm) x86
#define JUMP "jmp "
#define PLT "@PLT"
#define STAT_VERSION 1
#elif defined(__aarch64__)
#define OLDEST(x86, arm) arm
#define JUMP "b "
#define PLT ""
#define STAT_VERSION 0
#else
#error "Add this machine's oldest symbol versions, or leave glibc_floor.cmake out of its build"
#endif

#define WRAP(f, x86, arm)                                                                              \
  __asm__(".symver oldest_" #f "," #f "@" OLDEST(x86, arm) "\n.pushsection .text.wrap_" #f             \
                                                           ",\"ax\",@progbits\n.globl __wrap_" #f      \
                                                           "\n.hidden __wrap_" #f "\n.type __wrap_" #f \
                                                           ",@function\n"                              \
                                                           "__wrap_" #f ": " JUMP "oldest_" #f PLT "\n.popsection");
#define REPLACE(type, f) __attribute__((visibility("hidden"))) type __wrap_##f

WRAP(dladdr, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(dlclose, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(dlerror, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(dlopen, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(dlsym, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(exp, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(log, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(log2, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pow, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pthread_attr_setstacksize, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pthread_create, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pthread_detach, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pthread_getaffinity_np, "GLIBC_2.3.4", "GLIBC_2.17")
WRAP(pthread_getspecific, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pthread_mutex_consistent, "GLIBC_2.12", "GLIBC_2.17")
WRAP(pthread_mutexattr_destroy, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pthread_mutexattr_init, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pthread_mutexattr_setpshared, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pthread_mutexattr_setrobust, "GLIBC_2.12", "GLIBC_2.17")
WRAP(pthread_join, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pthread_key_create, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pthread_key_delete, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pthread_kill, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pthread_mutex_timedlock, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pthread_mutex_trylock, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pthread_once, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pthread_rwlock_rdlock, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pthread_rwlock_unlock, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pthread_rwlock_wrlock, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pthread_setaffinity_np, "GLIBC_2.3.4", "GLIBC_2.17")
WRAP(pthread_setname_np, "GLIBC_2.12", "GLIBC_2.17")
WRAP(pthread_setspecific, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(pthread_sigmask, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(sem_clockwait, "GLIBC_2.30", "GLIBC_2.30")
WRAP(sem_destroy, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(sem_init, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(sem_post, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(sem_timedwait, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(sem_trywait, "GLIBC_2.2.5", "GLIBC_2.17")
WRAP(sem_wait, "GLIBC_2.2.5", "GLIBC_2.17")

// 2.38 gave these a twin that reads binary numbers too; a newer compiler's headers call the twin.
#define TWIN(f)                                                                                  \
  __asm__(".pushsection .text.wrap___isoc23_" #f ",\"ax\",@progbits\n.globl __wrap___isoc23_" #f \
          "\n.hidden __wrap___isoc23_" #f "\n__wrap___isoc23_" #f ": " JUMP #f PLT "\n.popsection");
TWIN(strtol)
TWIN(strtoll)
TWIN(strtoul)
TWIN(strtoull)

// 2.32. libstdc++ skips atomics in shared_ptr where it is true; false is always right, and Node is never
// single-threaded.
REPLACE(char, __libc_single_threaded) = 0;

// 2.33 made functions of what were inline calls of these.
extern int __fxstat(int version, int fd, struct stat* out);
extern int __xstat(int version, const char* path, struct stat* out);
REPLACE(int, fstat)(int fd, struct stat* out) { return __fxstat(STAT_VERSION, fd, out); }
REPLACE(int, fstat64)(int fd, struct stat* out) { return __fxstat(STAT_VERSION, fd, out); }  // of file streams
REPLACE(int, stat)(const char* path, struct stat* out) { return __xstat(STAT_VERSION, path, out); }

// 2.36. std::random_device calls it.
REPLACE(uint32_t, arc4random)(void) {
  uint32_t bits = 0;
  while (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits) {
  }
  return bits;
}

// 2.30. std::condition_variable waits on the steady clock with it. Where it is missing, the remaining time is added to
// the wall clock, which is what libstdc++ itself did before.
typedef int (*ClockWait)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
REPLACE(int, pthread_cond_clockwait)
(pthread_cond_t* cond, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* deadline) {
  static ClockWait real;
  static int looked;
  if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {
    void* found = dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
    __atomic_store_n(&real, (ClockWait)(uintptr_t)found, __ATOMIC_RELAXED);
    __atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
  }
  ClockWait wait = __atomic_load_n(&real, __ATOMIC_RELAXED);
  if (wait) return wait(cond, mutex, clock, deadline);

  const int64_t second = 1000000000;
  struct timespec now, wall;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  int64_t left = (deadline->tv_sec - now.tv_sec) * second + (deadline->tv_nsec - now.tv_nsec);
  if (left <= 0) return ETIMEDOUT;
  int64_t nanoseconds = wall.tv_nsec + left;
  wall.tv_sec += nanoseconds / second;
  wall.tv_nsec = nanoseconds % second;
  return pthread_cond_timedwait(cond, mutex, &wall);
}

// 2.34. Of programs: their constructors, which its start file doesn't hand over any more.
typedef int (*Main)(int, char**, char**);
typedef void (*Constructor)(int, char**, char**);
extern Constructor __init_array_start[] __attribute__((visibility("hidden"), weak));
extern Constructor __init_array_end[] __attribute__((visibility("hidden"), weak));
int oldest_libc_start_main(Main, int, char**, Constructor, void (*)(void), void (*)(void), void*);
__asm__(".symver oldest_libc_start_main,__libc_start_main@" OLDEST("GLIBC_2.2.5", "GLIBC_2.17"));
static void runConstructors(int argc, char** argv, char** environment) {
  const size_t count = (size_t)(__init_array_end - __init_array_start);
  for (size_t i = 0; i < count; i += 1) __init_array_start[i](argc, argv, environment);
}
REPLACE(int, __libc_start_main)
(Main main, int argc, char** argv, Constructor init, void (*fini)(void), void (*loader_fini)(void), void* stack_end) {
  (void)init;
  (void)fini;
  return oldest_libc_start_main(main, argc, argv, runConstructors, 0, loader_fini, stack_end);
}
