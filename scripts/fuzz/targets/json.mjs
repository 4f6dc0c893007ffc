// Files in JSON: workloads, scenarios, reports, tables of programs, tunings. Read by the functions that commands read them with.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadProgramTable, loadWorkload } from "../../../apps/bench/dist/index.js";
import { readReport } from "../../../packages/collective-tests/dist/index.js";
import { buildProgram } from "../../../packages/primitives/dist/index.js";
import { loadTuning } from "../../../packages/scheduler/dist/tuner.js";
import { infiniband, islands, parseDeadlockConfig, parseScheduleWorkload, scenarioOf } from "../../../packages/simulator/dist/index.js";
import { faultOf } from "../judge.mjs";

const program = buildProgram({ collective: "all-reduce", algorithm: "ring", ranks: 2 });
const row = {
  collective: "all_reduce",
  size: 8,
  count: 2,
  type: "float",
  redop: "sum",
  root: -1,
  out_of_place: { time: 1, algbw: 1, busbw: 1, wrong: 0 },
};
const topology = { ranksPerIsland: 2, island: islands.nvlink, network: infiniband };
const kinds = [
  {
    right: {
      ...{ model: "synchronization", disorderProbability: 0.2, synchronizationProbability: 0.2, listOrder: "concatenated" },
      grouping: { policy: "3d", tp: 2, dp: 2, pp: 1, collectivesPerTpGroup: 16, collectivesPerDpGroup: 16 },
    },
    read: (text) => parseDeadlockConfig(JSON.parse(text)),
  },
  {
    right: { ranks: 2, topology, collectives: [{ bytes: 1024, atNs: 0 }], late: [{ rank: 1, byNs: 100 }] },
    read: (text) => scenarioOf(parseScheduleWorkload(JSON.parse(text)), 1),
  },
  { right: { version: 3, config: {}, results: [row, row] }, read: (text) => readReport(text, "fuzz.json") },
  { right: { name: "mine", tensors: [{ name: "w", elements: 1000 }] }, read: (_text, file) => loadWorkload(file) },
  {
    right: { schemaVersion: 1, machine: {}, savedAt: "2026-01-01", rules: [{ name: "own", program, minBytes: 1 }] },
    read: (_text, file) => loadProgramTable(file),
  },
  { right: { schemaVersion: 1, machine: {}, savedAt: "2026-01-01", result: {} }, read: (_text, file) => loadTuning(file, {}) },
];

export async function tryCase(random) {
  const { right, read } = random.pick(kinds);
  const tree = random.mutated(right, () => random.json());
  const text = random.chance(0.3) ? random.mutatedText(JSON.stringify(right)) : (JSON.stringify(tree) ?? "");
  const folder = mkdtempSync(join(tmpdir(), "dfccl-fuzz-json-"));
  try {
    const file = join(folder, "fuzz.json");
    writeFileSync(file, text);
    await read(text, file);
  } catch (error) {
    // JSON.parse is this fuzzer's own.
    const fault =
      error instanceof SyntaxError && error.stack?.includes("at JSON.parse") && error.code === undefined ? undefined : faultOf(error);
    return fault && `${text.slice(0, 2000)}\n${fault}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
