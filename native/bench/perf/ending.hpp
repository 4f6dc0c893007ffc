#pragma once
// How a program of the collective tests ends where something went wrong: an object that says what, and an exit code.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>

#include "perf/backend.hpp"

namespace dfccl::bench {

inline std::string jsonText(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

/// Ends the program: what went wrong goes out as an object, whatever the other threads wait for.
[[noreturn]] inline void endWith(Exit code, const std::string& what) {
  std::printf("{\"error\":%s,\"exit\":%d}\n", jsonText(what).c_str(), static_cast<int>(code));
  std::fflush(stdout);
  std::_Exit(static_cast<int>(code));
}

/// Does the work; ends the program where that can't be done.
template <class Work>
void orEnd(const Work& work) {
  try {
    work();
  } catch (const PerfError& error) {
    endWith(error.exit, error.what());
  } catch (const std::bad_alloc&) {
    endWith(Exit::internal, "Out of memory. Ask for smaller sizes: --maxbytes.");
  } catch (const std::exception& error) {
    endWith(Exit::internal, error.what());
  }
}

}  // namespace dfccl::bench
