#include "processes/write_flight_record.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/atomics.hpp"
#include "base/error.hpp"

namespace dfccl {
namespace {

/// A folder, and those that it lies in. @return whether it is there.
bool makeFolder(const std::string& path) {
  if (path.empty() || mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return true;
  if (errno != ENOENT) return false;
  const size_t end = path.find_last_of('/');
  if (end == std::string::npos || !makeFolder(path.substr(0, end))) return false;
  // Another process may have been quicker.
  return mkdir(path.c_str(), 0777) == 0 || errno == EEXIST;
}

bool write(const std::string& path, const std::string& record) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return false;
  const bool isWritten = std::fputs(record.c_str(), file) >= 0 && std::fputc('\n', file) != EOF;
  const int error = errno;
  if (std::fclose(file) != 0) return false;
  errno = error;
  return isWritten;
}

}  // namespace

void writeFlightRecord(const std::string& path, const std::string& record) {
  static Atomic<uint32_t> count;
  const size_t end = path.find_last_of('/');
  // Threads may write one path at a time.
  const std::string unfinished =
      path + "." + std::to_string(getpid()) + "." + std::to_string(count.fetchAdd(1, order::relaxed));
  if (makeFolder(end == std::string::npos ? "" : path.substr(0, end)) && write(unfinished, record) &&
      std::rename(unfinished.c_str(), path.c_str()) == 0) {
    return;
  }
  const std::string reason = std::generic_category().message(errno);
  unlink(unfinished.c_str());
  throw Error(dfcclSystemError, "The flight record " + path + " can't be written: " + reason + ".",
              "Name a file in a folder that this process may write to.", {{"path", path}, {"reason", reason}});
}

}  // namespace dfccl
