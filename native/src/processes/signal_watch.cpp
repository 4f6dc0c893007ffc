#include "processes/signal_watch.hpp"

#include <semaphore.h>
#include <signal.h>

#include <cerrno>
#include <mutex>
#include <thread>
#include <vector>

#include "base/atomics.hpp"

namespace dfccl {
namespace {

constexpr int kSignal = SIGUSR2;

/// What the watches of a process share.
struct Shared {
  std::mutex lifeMutex;  // taken first: of the thread and the handler
  std::mutex mutex;      // of what follows
  std::vector<const SignalWatch*> watches;
  bool isStopping = false;
  std::thread thread;
  struct sigaction before {};
  // What the handler reads.
  sem_t bell;
  Atomic<uintptr_t> next;  // the program's own handler; 0: none
  Atomic<uint32_t> nextTakesInfo;

  Shared() { sem_init(&bell, 0, 0); }
};

// Never destroyed: the handler may run for as long as the process does.
Shared& shared() {
  static Shared& only = *new Shared;
  return only;
}

// Async-signal-safe: a semaphore's post, and lock-free atomics.
void onSignal(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  Shared& s = shared();  // made before the handler was installed
  sem_post(&s.bell);
  if (const uintptr_t next = s.next.load(order::acquire); next != 0) {
    if (s.nextTakesInfo.load(order::relaxed) != 0) {
      reinterpret_cast<void (*)(int, siginfo_t*, void*)>(next)(signal, info, context);
    } else {
      reinterpret_cast<void (*)(int)>(next)(signal);
    }
  }
  errno = error;
}

/// Forgets signals that came until now.
void silence(Shared& s) {
  while (sem_trywait(&s.bell) == 0) {
  }
}

void serve(Shared& s) {
  for (;;) {
    while (sem_wait(&s.bell) != 0) {
    }
    silence(s);
    const std::lock_guard lock(s.mutex);
    if (s.isStopping) return;
    for (const SignalWatch* watch : s.watches) watch->act();
  }
}

void install(Shared& s) {
  sigaction(kSignal, nullptr, &s.before);
  const bool takesInfo = (s.before.sa_flags & SA_SIGINFO) != 0;
  const bool isFunction = s.before.sa_handler != SIG_DFL && s.before.sa_handler != SIG_IGN;
  s.nextTakesInfo.store(takesInfo ? 1 : 0, order::relaxed);
  s.next.store(isFunction ? reinterpret_cast<uintptr_t>(s.before.sa_handler) : 0, order::release);
  struct sigaction ours {};
  ours.sa_sigaction = onSignal;
  // Interrupts as little as it can; on the stack for signals where a thread of the program's has one.
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  ours.sa_mask = s.before.sa_mask;
  sigaction(kSignal, &ours, nullptr);
}

void giveBack(Shared& s) {
  struct sigaction now {};
  sigaction(kSignal, nullptr, &now);
  const bool isOurs = (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == onSignal;
  if (isOurs) sigaction(kSignal, &s.before, nullptr);
}

}  // namespace

SignalWatch::SignalWatch(std::function<void()> act) : act_(std::move(act)) {
  Shared& s = shared();
  const std::lock_guard life(s.lifeMutex);
  const bool isFirst = !s.thread.joinable();
  if (isFirst) {
    s.isStopping = false;
    silence(s);
    s.thread = std::thread([&s] { serve(s); });
  }
  {
    const std::lock_guard lock(s.mutex);
    s.watches.push_back(this);
  }
  if (isFirst) install(s);
}

SignalWatch::~SignalWatch() {
  Shared& s = shared();
  const std::lock_guard life(s.lifeMutex);
  {
    const std::lock_guard lock(s.mutex);
    std::erase(s.watches, this);
    s.isStopping = s.watches.empty();
  }
  if (!s.isStopping) return;
  giveBack(s);
  sem_post(&s.bell);
  s.thread.join();
}

}  // namespace dfccl
