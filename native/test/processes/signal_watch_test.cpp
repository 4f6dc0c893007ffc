#include "processes/signal_watch.hpp"

#include <doctest/doctest.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

#include "base/atomics.hpp"

using namespace dfccl;

namespace {

Atomic<uint32_t> counted;
void count(int) { counted.fetchAdd(1, order::acqRel); }
void countWithInfo(int, siginfo_t* info, void*) {
  counted.fetchAdd(info->si_pid == getpid() ? 1 : 1000, order::acqRel);
}

void install(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(SIGUSR2, &action, nullptr);
}
void install(void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR2, &action, nullptr);
}
uintptr_t installed() {
  struct sigaction action {};
  sigaction(SIGUSR2, nullptr, &action);
  return reinterpret_cast<uintptr_t>(action.sa_handler);
}

}  // namespace

TEST_CASE("every watch acts on a signal, on a thread that isn't the program's") {
  std::binary_semaphore first{0}, second{0};
  const std::thread::id own = std::this_thread::get_id();
  bool isOwn = true;
  const SignalWatch one([&] {
    isOwn = std::this_thread::get_id() == own;
    first.release();
  });
  const SignalWatch other([&] { second.release(); });
  for (int time = 0; time < 3; ++time) {
    kill(getpid(), SIGUSR2);
    first.acquire();
    second.acquire();
  }
  CHECK(!isOwn);
}

TEST_CASE("the program's own handler is called too, and has the signal back after the last watch") {
  for (const bool takesInfo : {false, true}) {
    CAPTURE(takesInfo);
    takesInfo ? install(countWithInfo) : install(count);
    const uintptr_t before = installed();
    counted.store(0, order::release);
    auto one = std::make_unique<SignalWatch>([] {});
    auto other = std::make_unique<SignalWatch>([] {});
    for (const SignalWatch* left : {one.get(), other.get()}) {
      CHECK(installed() != before);
      raise(SIGUSR2);
      (left == one.get() ? one : other).reset();
    }
    CHECK(counted.load(order::acquire) == 2);
    CHECK(installed() == before);
  }
  install(SIG_DFL);
}

TEST_CASE("a handler that the program installs later takes the signal, and keeps it") {
  Atomic<uint32_t> acts;
  counted.store(0, order::release);
  {
    const SignalWatch watch([&] { acts.fetchAdd(1, order::acqRel); });
    install(count);
    raise(SIGUSR2);
  }
  CHECK(installed() == reinterpret_cast<uintptr_t>(count));
  CHECK(counted.load(order::acquire) == 1);
  CHECK(acts.load(order::acquire) == 0);
  install(SIG_DFL);
}

TEST_CASE("a thread's call into the system isn't ended by the signal") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const SignalWatch watch([&] { CHECK(write(ends[1], "x", 1) == 1); });
  pthread_kill(pthread_self(), SIGUSR2);
  char x = 0;
  CHECK(read(ends[0], &x, 1) == 1);
  for (const int end : ends) close(end);
}

TEST_CASE("watches may come and go while signals come") {
  install(count);
  Atomic<uint32_t> isOver;
  std::vector<std::thread> senders;
  for (int i = 0; i < 2; ++i) {
    senders.emplace_back([&] {
      while (isOver.load(order::acquire) == 0) kill(getpid(), SIGUSR2);
    });
  }
  Atomic<uint32_t> acts;
  for (int i = 0; i < 200; ++i) {
    const SignalWatch one([&] { acts.fetchAdd(1, order::acqRel); }), other([] {});
    if (i % 2 == 0) continue;
    const uint32_t seen = acts.load(order::acquire);
    while (acts.load(order::acquire) == seen) std::this_thread::yield();
  }
  isOver.store(1, order::release);
  for (std::thread& sender : senders) sender.join();
  CHECK(acts.load(order::acquire) >= 100);
  install(SIG_DFL);
}
