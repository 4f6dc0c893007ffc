#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
// What holds of the random programs themselves, without any device.
#include <doctest/doctest.h>

#include <algorithm>

#include "stream_programs/options.hpp"
#include "stream_programs/perfect_library.hpp"

using namespace dfccl::gpu::programs;

namespace {

Shape shapeOf(uint32_t ranks, bool meets) { return {ranks, meets, 16, size_t{4} << 20, Features::all()}; }

constexpr uint64_t kSeeds = 150, kInterleavings = 4;

/// How many programs of all shapes don't end, changed by `change` before.
template <class Change>
uint64_t countHung(bool meets, const Change& change) {
  uint64_t hung = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (uint32_t ranks = 2; ranks <= kMostRanks; ++ranks) {
      const Shape shape = shapeOf(ranks, meets);
      Program program = generate(seed, shape);
      change(program);
      for (uint64_t i = 0; i < kInterleavings; ++i) hung += !endsWithPerfectLibrary(program, shape, i);
    }
  }
  return hung;
}

std::string messageOf(std::vector<std::string> words) {
  words.insert(words.begin(), "stream_programs");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  try {
    optionsOf(static_cast<int>(pointers.size()), pointers.data());
    return "";
  } catch (const OptionError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("every program ends on the most unkind device, whoever is quick or slow, if the library keeps its promise") {
  for (const bool meets : {false, true}) {
    CAPTURE(meets);
    CHECK(countHung(meets, [](Program&) {}) == 0);
  }
}

TEST_CASE("control: of programs whose streams wait before all runs of a phase are submitted, some don't end") {
  // The first wait of each phase comes before its first run but one.
  const auto waitEarly = [](Program& program) {
    for (auto& steps : program.steps) {
      for (size_t i = 0; i + 1 < steps.size(); ++i) {
        if (steps[i].action != Action::run) continue;
        const auto wait = std::find_if(steps.begin() + static_cast<std::ptrdiff_t>(i), steps.end(), [&](const Step& s) {
          return s.action == Action::waitOnStream && s.collective == steps[i].collective && s.phase == steps[i].phase;
        });
        if (wait != steps.end()) std::rotate(steps.begin() + static_cast<std::ptrdiff_t>(i) + 1, wait, wait + 1);
      }
    }
  };
  CHECK(countHung(false, waitEarly) > 0);
}

TEST_CASE("control: of programs that launch a graph before some run of its phase is submitted, some don't end") {
  // On rank 0 alone, before the phase's first run, with the waits behind it.
  const auto launchEarly = [](Program& program) {
    std::vector<Step>& steps = program.steps[0];
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].action != Action::launchGraph) continue;
      const auto run = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
        return step.action == Action::run && step.phase == steps[i].phase;
      });
      const auto launch = steps.begin() + static_cast<std::ptrdiff_t>(i);
      if (run < launch) std::rotate(run, launch, launch + 1);
    }
  };
  CHECK(countHung(false, launchEarly) > 0);
}

TEST_CASE("control: of programs whose ranks share a context and don't meet, some don't end") {
  CHECK(countHung(true, [](Program& program) {
          for (auto& steps : program.steps) {
            std::erase_if(steps, [](const Step& step) { return step.action == Action::meet; });
          }
        }) > 0);
}

TEST_CASE("a seed is the same program for whoever draws it, and another seed another one") {
  const Shape shape = shapeOf(3, false);
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(listing(generate(7, shape), rank, 0) == listing(generate(7, shape), rank, 0));
    CHECK(listing(generate(7, shape), rank, 0) != listing(generate(8, shape), rank, 0));
  }
}

TEST_CASE("ranks submit the same runs, those of an id in the same order") {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Program program = generate(seed, shapeOf(4, false));
    for (size_t id = 0; id < program.collectives.size(); ++id) {
      std::vector<std::vector<std::pair<uint32_t, uint32_t>>> runs;  // (phase, run), of each rank that takes part
      for (const int rank : program.collectives[id].ranks) {
        runs.emplace_back();
        for (const Step& step : program.steps[static_cast<size_t>(rank)]) {
          if (step.action == Action::run && step.collective == static_cast<int>(id)) {
            runs.back().push_back({step.phase, step.run});
          }
        }
        CHECK(runs.back() == runs.front());
        for (size_t i = 0; i < runs.back().size(); ++i) CHECK(runs.back()[i].second == i);
      }
    }
  }
}

TEST_CASE("what is left out isn't drawn") {
  Shape shape = shapeOf(2, false);
  for (uint32_t i = 0; i < kFeatureCount; ++i) shape.features.leaveOut(static_cast<Feature>(i));
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const auto& steps : generate(seed, shape).steps) {
      for (const Step& step : steps) {
        CHECK((step.action == Action::run || step.action == Action::waitOnStream || step.action == Action::compute));
        CHECK(step.place == BufferKind::kept);
      }
    }
  }
}

TEST_CASE("an option that isn't known is refused with the nearest that is") {
  CHECK(messageOf({"--sead", "3"}) == "There is no option '--sead'. Do you mean --seed?");
  CHECK(messageOf({"--without", "modules,poools"}) == "--without: nothing is called 'poools'. Do you mean pools?");
  CHECK(messageOf({"--ranks", "9"}) == "--ranks: '9' is no number from 2 to 4");
  CHECK(messageOf({"--seed"}) == "--seed needs a value: --seed N");
  CHECK(messageOf({"--seed", "12", "--print"}) == "");
}
