#include "outstanding.hpp"

#include <unistd.h>

#include <cstdio>
#include <mutex>

#include "per_process.hpp"

namespace dfccl_torch {
namespace {

constexpr int kMostTold = 50;

struct AllOutstanding {
  std::mutex mutex;
  Outstanding* first = nullptr;
  Outstanding* last = nullptr;
};
PerProcess<AllOutstanding> allOutstanding;

std::string secondsSince(std::chrono::steady_clock::time_point issued) {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - issued;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s ago", passed.count());
  return text;
}

}  // namespace

Outstanding::Outstanding(const char* name, const std::string& group, const std::string& tag)
    : name_(name),
      group_(group),
      tag_(tag),
      source_(SourceLine::current()),
      issued_(std::chrono::steady_clock::now()),
      process_(getpid()) {
  AllOutstanding& here = allOutstanding.get();
  const std::lock_guard lock(here.mutex);
  before_ = here.last;
  (before_ == nullptr ? here.first : before_->behind_) = this;
  here.last = this;
}

Outstanding::~Outstanding() {
  if (process_ != getpid()) return;  // the parent's, seen by a forked child
  AllOutstanding& here = allOutstanding.get();
  const std::lock_guard lock(here.mutex);
  (before_ == nullptr ? here.first : before_->behind_) = behind_;
  (behind_ == nullptr ? here.last : behind_->before_) = before_;
}

void Outstanding::noteMissing(const std::string& words) {
  const std::lock_guard lock(allOutstanding.get().mutex);
  missing_ = words.substr(0, words.find(". "));  // the others that are missing, behind it, are told of without this
}

std::string Outstanding::text() const {
  const std::string source = source_.text();
  std::string text = std::string("  ") + name_ + " in group " + group_;
  if (!tag_.empty()) text += ", tag \"" + tag_ + "\"";
  text += ", " + secondsSince(issued_) + ", at " + (source.empty() ? "a place outside of Python" : source);
  if (!missing_.empty()) text += ": " + missing_;
  return text + "\n";
}

std::string describeOutstanding() {
  AllOutstanding& here = allOutstanding.get();
  const std::lock_guard lock(here.mutex);
  if (here.first == nullptr) return "";
  std::string text = "Issued here and not known to be over, the oldest first:\n";
  int told = 0, left = 0;
  for (const Outstanding* one = here.first; one != nullptr; one = one->behind_) {
    if (told == kMostTold) {
      ++left;
    } else {
      text += one->text();
      ++told;
    }
  }
  return left == 0 ? text : text + "  And " + std::to_string(left) + " more.\n";
}

}  // namespace dfccl_torch
