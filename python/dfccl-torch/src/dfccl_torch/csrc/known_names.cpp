#include "known_names.hpp"

#include <array>
#include <deque>
#include <mutex>
#include <regex>
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

/// What stands in the place of ", tag 5" or ", in group 5". Under the lock.
std::string replacementOf(const KnownNames& here, const std::smatch& found) {
  const uint64_t number = std::stoull(found[2]);
  if (found[1] == "tag") {
    if (number == 0) return "";
    const auto known = here.tags.find(number);
    return known == here.tags.end() ? found.str() : wordsOf(known->second);
  }
  const auto known = here.groups.find(number);
  return known == here.groups.end() ? found.str() : ", in group " + known->second;
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

void noteGroup(const std::string& name) {
  KnownNames& here = knownNames.get();
  const std::lock_guard lock(here.mutex);
  here.groups.emplace(hashOf(name), name);
}

std::string withNames(const std::string& text) {
  static const std::regex numbered(", (tag|in group) ([0-9]{1,20})");
  KnownNames& here = knownNames.get();
  const std::lock_guard lock(here.mutex);
  std::string named;
  auto rest = text.cbegin();
  for (std::sregex_iterator at(text.begin(), text.end(), numbered), end; at != end; ++at) {
    named.append(rest, (*at)[0].first).append(replacementOf(here, *at));
    rest = (*at)[0].second;
  }
  return named.append(rest, text.cend());
}

}  // namespace dfccl_torch
