#include "known_names.hpp"

#include <array>
#include <charconv>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "hash.hpp"
#include "per_process.hpp"
#include "reduction.hpp"

namespace dfccl_torch {
namespace {

constexpr size_t kMostTags = 4096;

struct KnownNames {
  std::mutex mutex;
  std::unordered_map<uint64_t, TagFacts> tags;
  std::deque<uint64_t> oldestTags;
  std::unordered_map<uint64_t, std::string> groups;
};
PerProcess<KnownNames> knownNames;

/// The tags that a thread noted last, some of them: most programs have few, over and over.
struct JustNoted {
  const void* where = nullptr;  // a forked child's is another
  std::array<uint64_t, 64> tags{};

  uint64_t& placeOf(uint64_t tag) { return tags[tag % tags.size()]; }
};
thread_local JustNoted justNoted;

std::string wordsOf(const TagFacts& facts) {
  std::string words;
  if (!facts.whole.empty()) words += ", part of " + facts.whole;
  if (facts.distinction != 0) words += ", in torch " + wordsOfDistinction(facts.distinction);
  if (!facts.name.empty()) words += ", tag \"" + facts.name + "\"";
  if (facts.number == 0) return words;
  return words + (facts.isMessage ? ", message tag " : ", position ") + std::to_string(facts.number);
}

// No regular expressions: they ask the locale's facets, which another libstdc++ in the process, as some builds of torch
// bring one along, keeps under other numbers.
constexpr std::string_view kBeforeTag = ", tag ", kBeforeGroup = ", in group ";

/// What stands in the place of ", tag 5" or ", in group 5"; nothing where that isn't known. Under the lock.
std::optional<std::string> replacementOf(const KnownNames& here, std::string_view kind, uint64_t number) {
  if (kind == kBeforeTag) {
    if (number == 0) return "";
    const auto known = here.tags.find(number);
    return known == here.tags.end() ? std::nullopt : std::optional(wordsOf(known->second));
  }
  const auto known = here.groups.find(number);
  return known == here.groups.end() ? std::nullopt : std::optional(std::string(kBeforeGroup) + known->second);
}

}  // namespace

bool isNoted(uint64_t tag) {
  return tag == 0 || (justNoted.where == &knownNames.get() && justNoted.placeOf(tag) == tag);
}

void noteTag(uint64_t tag, TagFacts facts) {
  KnownNames& here = knownNames.get();
  if (justNoted.where != &here) justNoted = {&here, {}};
  justNoted.placeOf(tag) = tag;
  const std::lock_guard lock(here.mutex);
  if (!here.tags.emplace(tag, std::move(facts)).second) return;
  here.oldestTags.push_back(tag);
  if (here.oldestTags.size() <= kMostTags) return;
  here.tags.erase(here.oldestTags.front());
  here.oldestTags.pop_front();
}

void noteGroup(uint64_t key, const std::string& name) {
  KnownNames& here = knownNames.get();
  const std::lock_guard lock(here.mutex);
  here.groups.emplace(key, name);
}

std::string withNames(const std::string& text) {
  KnownNames& here = knownNames.get();
  const std::lock_guard lock(here.mutex);
  std::string named;
  std::string_view rest = text;
  for (size_t at = rest.find(','); at != std::string_view::npos; at = rest.find(',')) {
    named.append(rest.substr(0, at));
    rest.remove_prefix(at);
    const std::string_view kind = rest.substr(0, kBeforeTag.size()) == kBeforeTag ? kBeforeTag : kBeforeGroup;
    if (rest.substr(0, kind.size()) == kind) {
      uint64_t number = 0;
      const char* const digits = rest.data() + kind.size();
      const auto [end, error] = std::from_chars(digits, rest.data() + rest.size(), number);
      const auto words = error == std::errc() ? replacementOf(here, kind, number) : std::nullopt;
      if (words) {
        named.append(*words);
        rest.remove_prefix(static_cast<size_t>(end - rest.data()));
        continue;
      }
    }
    named.push_back(',');
    rest.remove_prefix(1);
  }
  return named.append(rest);
}

}  // namespace dfccl_torch
