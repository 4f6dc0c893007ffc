#include "processes/write_flight_record.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
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

/// @param flags beside O_WRONLY and O_CLOEXEC.
bool write(const std::string& path, const std::string& record, int flags) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
  if (descriptor < 0) return false;
  // Whoever reads a pipe may be slower.
  if ((flags & O_NONBLOCK) != 0) fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
  std::FILE* const file = fdopen(descriptor, "w");
  if (file == nullptr) {
    close(descriptor);
    return false;
  }
  const bool isWritten = std::fputs(record.c_str(), file) >= 0 && std::fputc('\n', file) != EOF;
  const int error = errno;
  if (std::fclose(file) != 0) return false;
  errno = error;
  return isWritten;
}

/// What a path leads to: that is replaced, and a symbolic link to it stays.
std::string targetOf(const std::string& path) {
  char any;
  const bool isLink = readlink(path.c_str(), &any, 1) >= 0;
  if (isLink) {
    // One that leads to nothing yet has a name at its end, too.
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor >= 0) close(descriptor);
  }
  char* const resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string target = resolved;
  std::free(resolved);
  return target;
}

/// A device or a pipe, which takes text and can't be replaced by a file; and what this process's output goes to.
bool isWrittenInPlace(const std::string& path) {
  struct stat there, output;
  if (stat(path.c_str(), &there) != 0) return false;
  if (!S_ISREG(there.st_mode)) return true;
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    if (fstat(descriptor, &output) == 0 && output.st_dev == there.st_dev && output.st_ino == there.st_ino) return true;
  }
  return false;
}

bool replace(const std::string& path, const std::string& record) {
  static Atomic<uint32_t> count;
  const std::string target = targetOf(path);
  const size_t end = target.find_last_of('/');
  if (!makeFolder(end == std::string::npos ? "" : target.substr(0, end))) return false;
  // Threads may write one path at a time.
  const std::string unfinished =
      target + "." + std::to_string(getpid()) + "." + std::to_string(count.fetchAdd(1, order::relaxed));
  if (write(unfinished, record, O_CREAT | O_TRUNC) && std::rename(unfinished.c_str(), target.c_str()) == 0) return true;
  const int error = errno;
  unlink(unfinished.c_str());
  errno = error;
  return false;
}

}  // namespace

void writeFlightRecord(const std::string& path, const std::string& record) {
  // A pipe that nobody reads is refused, and not waited for.
  if (isWrittenInPlace(path) ? write(path, record, O_NONBLOCK | O_APPEND) : replace(path, record)) return;
  const std::string reason = std::generic_category().message(errno);
  throw Error(dfcclSystemError, "The flight record " + path + " can't be written: " + reason + ".",
              "Name a file in a folder that this process may write to.", {{"path", path}, {"reason", reason}});
}

}  // namespace dfccl
