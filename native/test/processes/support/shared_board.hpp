#pragma once
#include <sys/mman.h>

#include <new>

namespace dfccl::test {

/// A zeroed T that the test and the processes that it forks from now on see.
template <class T>
class SharedBoard {
 public:
  SharedBoard() {
    void* const memory = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    board_ = static_cast<T*>(memory);
  }
  ~SharedBoard() { munmap(board_, sizeof(T)); }
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;

  T* operator->() const { return board_; }
  T& operator*() const { return *board_; }

 private:
  T* board_;
};

}  // namespace dfccl::test
