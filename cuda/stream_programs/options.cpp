#include "stream_programs/options.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <sstream>
#include <vector>

namespace dfccl::gpu::programs {
namespace {

size_t distanceOf(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t kept = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({kept, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

/// "; the nearest is X", or nothing.
std::string hint(const std::string& word, const std::vector<std::string>& names) {
  const auto nearest = std::min_element(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return distanceOf(word, a) < distanceOf(word, b);
  });
  return distanceOf(word, *nearest) <= 1 + word.size() / 3 ? ". Do you mean " + *nearest + "?" : "";
}

double numberOf(const std::string& name, const std::string& text, double least, double most) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= least && value <= most)) {
    std::ostringstream message;
    message << name << ": '" << text << "' is no number from " << least << " to " << most;
    throw OptionError(message.str());
  }
  return value;
}

Features without(Features features, const std::string& list) {
  const std::vector<std::string> names = featureNames();
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end()) throw OptionError("--without: nothing is called '" + word + "'" + hint(word, names));
    features.leaveOut(static_cast<Feature>(found - names.begin()));
  }
  return features;
}

struct Entry {
  std::string name, argument, meaning;
  std::function<void(Options&, const std::string&)> set;
};

template <class T>
Entry number(const char* name, T Options::*field, double least, double most, const char* meaning) {
  return {name, "N", meaning, [=](Options& options, const std::string& text) {
            options.*field = static_cast<T>(numberOf(name, text, least, most));
          }};
}

Entry flag(const char* name, bool Options::*field, const char* meaning) {
  return {name, "", meaning, [=](Options& options, const std::string&) { options.*field = true; }};
}

const std::vector<Entry>& entries() {
  constexpr double kMany = 1e15;
  static const std::vector<Entry> all{
      number("--seed", &Options::seed, 0, kMany, "of the first program; default 1"),
      number("--programs", &Options::programs, 1, kMany,
             "how many; default 500, and 50,000 where DFCCL_TEST_TIER=long"),
      number("--collectives-total", &Options::collectives, 1, kMany, "stop behind so many runs"),
      number("--minutes", &Options::minutes, 0, 1e6, "stop behind so long"),
      number("--ranks", &Options::ranks, 2, 4, "default: 2 to 4, drawn for each world"),
      number("--processes", &Options::processes, 1, 4, "1, or as many as ranks; default: drawn"),
      number("--machines", &Options::machines, 1, 4,
             "that the ranks, each a process, are spread over: they share no memory, and meet on loopback"),
      number("--per-world", &Options::perWorld, 1, kMany, "programs that a world runs"),
      number("--streams", &Options::streams, 1, 16, "of a rank at most; default 16"),
      number("--max-bytes", &Options::mostBytes, 8, 1e9, "of a rank's smaller buffer"),
      number("--patience", &Options::patience, 1, 1e6, "seconds without a move that are a hang"),
      number("--queues", &Options::queues, 1, 32, "hardware queues: CUDA_DEVICE_MAX_CONNECTIONS"),
      number("--grid", &Options::grid, 1, 256, "blocks of a rank's daemon"),
      number("--arena-mb", &Options::arenaMegabytes, 16, 1e6, "device memory of a rank's library"),
      {"--without", "A,B", "leave these out",
       [](Options& options, const std::string& list) { options.features = without(options.features, list); }},
      flag("--spread", &Options::isSpread, "ranks of one process on devices of their own"),
      flag("--unkind", &Options::isUnkind, "simulated devices are late, preempt, and lock more than by default"),
      flag("--print", &Options::prints, "list a program that hangs or goes wrong"),
      flag("--list", &Options::lists, "only list the programs"),
      flag("--go-on", &Options::goesOn, "with the next world after a hang"),
  };
  return all;
}

}  // namespace

Options optionsOf(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto found = std::find_if(entries().begin(), entries().end(), [&](const Entry& e) { return e.name == word; });
    if (found == entries().end()) {
      std::vector<std::string> names;
      for (const Entry& entry : entries()) names.push_back(entry.name);
      throw OptionError("There is no option '" + word + "'" + hint(word, names));
    }
    if (found->argument.empty()) {
      found->set(options, "");
      continue;
    }
    if (++i == argc) throw OptionError(word + " needs a value: " + word + " " + found->argument);
    found->set(options, argv[i]);
  }
  if (options.machines > 1) {
    if (options.processes == 1) throw OptionError("--processes is as many as --ranks where --machines is more than 1");
    if (options.ranks != 0 && options.ranks < options.machines) throw OptionError("--machines is at most --ranks");
    // No kernel in a stream or graph carries out what goes to other machines.
    options.features.leaveOut(Feature::graphs);
  }
  if (options.processes > 1 && options.ranks != 0 && options.ranks != options.processes) {
    throw OptionError("--processes is 1 (all ranks are threads of it), or as many as --ranks");
  }
  return options;
}

std::string usage() {
  std::string text = "usage: stream_programs [OPTION...]\n";
  for (const Entry& entry : entries()) {
    std::string line = "  " + entry.name + (entry.argument.empty() ? "" : " " + entry.argument);
    line.resize(std::max<size_t>(line.size() + 1, 26), ' ');
    text += line + entry.meaning + "\n";
  }
  text += "What can be left out:";
  for (const std::string& name : featureNames()) text += " " + name;
  return text + "\n";
}

}  // namespace dfccl::gpu::programs
