import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { POLICY_BYTES, policyOffsets } from "../src/index.js";
import { seed } from "./arbitraries.js";
import { buildReplay, type Mutation, runReplay } from "./native-replay.js";
import { anySequence, play } from "./recorded-sequence.js";

const sequenceCount = 2500;

// Each breaks one rule of the engine's headers; the sequences must tell every one of them from the original.
const mutations: readonly Mutation[] = [
  {
    name: "a raised threshold wraps",
    header: "saturating.hpp",
    from: "return scaled > kSaturated ? kSaturated : static_cast<uint32_t>(scaled);",
    to: "return static_cast<uint32_t>(scaled);",
  },
  {
    name: "a decrement passes zero",
    header: "saturating.hpp",
    from: "return a > b ? a - b : 0;",
    to: "return a - b;",
  },
  {
    name: "the decrement of a far position wraps",
    header: "saturating.hpp",
    from: "return product > kSaturated ? kSaturated : static_cast<uint32_t>(product);",
    to: "return static_cast<uint32_t>(product);",
  },
  {
    name: "equal priorities overtake each other",
    header: "order_policy.hpp",
    from: "priorityAt(position - 1) < newPriority",
    to: "priorityAt(position - 1) <= newPriority",
  },
  {
    name: "the fetch budget of a lap is one too large",
    header: "order_policy.hpp",
    from: "facts.fetchedThisLap >= policy.fetchesPerLap",
    to: "facts.fetchedThisLap > policy.fetchesPerLap",
  },
  {
    name: "a less urgent task takes the place of a more urgent one",
    header: "scheduler.hpp",
    from: "if (isFirst) state.urgent",
    to: "state.urgent",
  },
  {
    name: "an insertion ahead of the cursor moves it to another task",
    header: "scheduler.hpp",
    from: "state.cursor += 1;",
    to: "",
  },
  {
    name: "a turn lasts one failure longer",
    header: "scheduler.hpp",
    from: "state.current.failures >= state.current.threshold",
    to: "state.current.failures > state.current.threshold",
  },
  {
    name: "a stay lasts past its limit",
    header: "quit_policy.hpp",
    from: ">= policy.residencyTicks",
    to: "> policy.residencyTicks",
  },
  {
    name: "a clock that runs backwards looks like an age",
    header: "quit_policy.hpp",
    from: "return now > since ? now - since : 0;",
    to: "return now - since;",
  },
];

describe("the engine's policies and the TypeScript ones", () => {
  let lines: [command: string, answer: string][] = [];
  let commands: string[] = [];

  beforeAll(() => {
    lines = fc.sample(anySequence, { numRuns: sequenceCount, seed }).flatMap(play);
    commands = lines.map(([command]) => command);
  });

  const disagreements = (executable: string): number[] => {
    const answers = runReplay(executable, commands);
    expect(answers).toHaveLength(lines.length);
    return lines.flatMap(([, answer], index) => (answer === answers[index] ? [] : [index]));
  };

  it(`decide alike in ${sequenceCount} generated event sequences`, () => {
    const executable = buildReplay();
    const first = disagreements(executable)[0];
    if (first === undefined) return;
    const sequenceStart = commands.findLastIndex((command, index) => index <= first && command.startsWith("policy"));
    const native = runReplay(executable, commands.slice(sequenceStart, first + 1));
    const recorded = lines.slice(sequenceStart, first + 1).map(([command, answer], i) => `${command}\n  ${answer}\n  ${native[i]}`);
    expect.fail(`They differ (DFCCL_SEED=${seed}); command, TypeScript's answer, the engine's:\n${recorded.join("\n")}`);
  });

  it("put every field of the policy at the same offset", () => {
    const words = (runReplay(buildReplay(), ["layout"])[0] ?? "").split(" ");
    const offsets = Object.fromEntries(words.flatMap((word, i) => (i % 2 === 0 ? [[word, Number(words[i + 1])]] : [])));
    expect(offsets).toEqual({ ...policyOffsets, sizeof: POLICY_BYTES });
  });

  it.each(mutations)("are told apart when $name", (mutation) => {
    expect(disagreements(buildReplay(mutation)).length, `DFCCL_SEED=${seed}`).toBeGreaterThan(0);
  });
});
