#include "processes/write_flight_record.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "processes/support/leaks.hpp"
#include "processes/support/temporary_folder.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

/// What the system says; "" where it takes the record.
std::string reasonOf(const std::string& path) {
  try {
    writeFlightRecord(path, "{}");
  } catch (const Error& error) {
    CHECK(error.status() == dfcclSystemError);
    CHECK(error.facts().at(0) == std::pair<std::string, std::string>{"path", path});
    CHECK(error.message() == "The flight record " + path + " can't be written: " + error.facts().at(1).second + ".");
    return error.facts().at(1).second;
  }
  return {};
}

}  // namespace

TEST_CASE("a record is written into a folder that wasn't there, and in the place of an older one") {
  const TemporaryFolder folder;
  const std::string path = folder / "a/b/rank_0";
  writeFlightRecord(path, "an older and longer one");
  writeFlightRecord(path, "{}");
  CHECK(contentOf(path) == "{}\n");
  CHECK(filesIn((folder / "a/b").c_str()) == std::set<std::string>{".", "..", "rank_0"});
}

TEST_CASE("a record that can't be written says why, and leaves nothing behind") {
  const TemporaryFolder folder;
  writeFlightRecord(folder / "file", "");
  CHECK(reasonOf(folder / "file/rank_0") == "Not a directory");
  CHECK(reasonOf(folder / "file/below/rank_0") == "Not a directory");
  writeFlightRecord(folder / "below/file", "");
  CHECK(reasonOf(folder / "below") == "Is a directory");
  CHECK(reasonOf("/proc/nothing/here") == "No such file or directory");
  CHECK(reasonOf(folder / std::string(300, 'x')) == "File name too long");
  CHECK(filesIn(folder.path().c_str()) == std::set<std::string>{".", "..", "below", "file"});
}

TEST_CASE("what is no file stays what it is: a link, a pipe, a device") {
  const TemporaryFolder folder;
  const std::string link = folder / "link", target = folder / "target", pipe = folder / "pipe";
  REQUIRE(symlink("target", link.c_str()) == 0);
  writeFlightRecord(target, "an older one");
  writeFlightRecord(link, "{}");
  CHECK(contentOf(target) == "{}\n");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(reasonOf(pipe) == "No such device or address");  // nobody reads it
  CHECK(reasonOf("/dev/full") == "No space left on device");
  CHECK(reasonOf("/dev/null").empty());
  struct stat now;
  CHECK((lstat(link.c_str(), &now) == 0 && S_ISLNK(now.st_mode)));
  CHECK((stat(pipe.c_str(), &now) == 0 && S_ISFIFO(now.st_mode)));
  for (const char* device : {"/dev/full", "/dev/null"}) CHECK((stat(device, &now) == 0 && S_ISCHR(now.st_mode)));
}

TEST_CASE("a link that leads nowhere yet gets its file, a slow reader all, and an output what is new") {
  const TemporaryFolder folder;
  const std::string link = folder / "link", pipe = folder / "pipe", log = folder / "log";
  REQUIRE(symlink("target", link.c_str()) == 0);
  writeFlightRecord(link, "{}");
  CHECK(contentOf(folder / "target") == "{}\n");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(fcntl(reader, F_SETFL, 0) == 0);
  std::thread writer([&] { writeFlightRecord(pipe, std::string(200'000, 'x')); });
  char piece[4096];
  size_t total = 0;
  while (total < 200'001) {
    const ssize_t got = read(reader, piece, sizeof piece);  // 0 before the writer has come
    REQUIRE(got >= 0);
    total += static_cast<size_t>(got);
  }
  writer.join();
  close(reader);
  CHECK(total == 200'001);
  const int before = dup(STDERR_FILENO), redirected = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  REQUIRE(dup2(redirected, STDERR_FILENO) >= 0);
  CHECK(::write(STDERR_FILENO, "older ", 6) == 6);
  const std::string reason = reasonOf("/dev/stderr");
  CHECK(::write(STDERR_FILENO, "newer", 5) == 5);
  dup2(before, STDERR_FILENO);
  close(before);
  close(redirected);
  CHECK(reason.empty());
  CHECK(contentOf(log) == "older {}\nnewer");
}

TEST_CASE("threads that write one path at a time leave a whole record") {
  const TemporaryFolder folder;
  const std::string path = folder / "rank_0";
  std::vector<std::thread> threads;
  for (const char letter : {'a', 'b', 'c'}) {
    threads.emplace_back([&path, letter] {
      for (int i = 0; i < 20; ++i) writeFlightRecord(path, std::string(100'000, letter));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string content = contentOf(path);
  REQUIRE(content.size() == 100'001);
  CHECK(content == std::string(100'000, content[0]) + "\n");
  CHECK(filesIn(folder.path().c_str()) == std::set<std::string>{".", "..", "rank_0"});
}
