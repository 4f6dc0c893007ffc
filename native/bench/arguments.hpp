#pragma once
// `--name value` arguments of the benchmark programs.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace dfccl::bench {

class Arguments {
 public:
  /// Ends the program with `usage` where an argument is unknown or has no value.
  Arguments(int argc, char** argv, const std::vector<std::string>& known, const char* usage) {
    for (int i = 1; i < argc; ++i) {
      const std::string argument = argv[i];
      bool isKnown = false;
      for (const std::string& name : known) isKnown |= argument == "--" + name;
      if (!isKnown || i + 1 == argc) {
        std::fputs(usage, stderr);
        std::exit(2);
      }
      values_[argument.substr(2)] = argv[++i];
    }
  }

  std::string text(const std::string& name, const std::string& byDefault) const {
    const auto found = values_.find(name);
    return found == values_.end() ? byDefault : found->second;
  }
  double number(const std::string& name, double byDefault) const {
    const auto found = values_.find(name);
    return found == values_.end() ? byDefault : std::strtod(found->second.c_str(), nullptr);
  }
  bool has(const std::string& name) const { return values_.contains(name); }

 private:
  std::map<std::string, std::string> values_;
};

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (end != begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// "8,4096,64M": bytes, with K, M or G for powers of 1024.
inline std::vector<uint64_t> parseSizes(const std::string& text) {
  std::vector<uint64_t> sizes;
  for (const std::string& part : split(text, ',')) {
    char* unit = nullptr;
    uint64_t size = std::strtoull(part.c_str(), &unit, 10);
    if (*unit == 'K') size <<= 10;
    if (*unit == 'M') size <<= 20;
    if (*unit == 'G') size <<= 30;
    sizes.push_back(size);
  }
  return sizes;
}

}  // namespace dfccl::bench
