import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { testHostileValues } from "../../../scripts/lib/hostile-values.js";
import * as core from "../src/index.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-hostile-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Small, so that thousands of them open and close in no time. */
const small = { ranks: 1, workers: 0, blocks: 1, submissionSlots: 16, completionSlots: 16, maxCollectives: 8, maxTasks: 16 } as const;

let jobs = 0;
const launch = () => ({ rank: 0, size: 1, job: `hostile-${process.pid}-${jobs++}` });

const status = (): core.WorldStatus => ({
  job: "job",
  version: "0",
  memoryBytes: 0,
  ranks: [{ rank: 0, pid: 1, presence: "joined" }],
  collectives: [],
});

// What is a path is one of a file here, and so no attempt leaves something elsewhere.
type Write = Parameters<typeof core.writeFlightRecord>;
const writeFlightRecord = (record: Write[1]) => core.writeFlightRecord(join(folder, "flight_0"), record);
const makeFolder = core.makeFolder;
const record = { version: "2.10", pg_config: {}, pg_status: {}, entries: [] } as const;

testHostileValues(
  { ...core, writeFlightRecord, makeFolder },
  {
    openWorld: () => [
      {
        ...small,
        backend: "cpu",
        devices: [0],
        policy: "default",
        arenaBytes: 2 ** 20,
        slotPayloadBytes: 1024,
        directTileBytes: 4096,
      },
    ],
    joinWorld: () => [
      { launch: launch(), workers: 0, blocks: 1, maxCollectives: 8, maxTasks: 16, timeoutMs: 50, silenceMs: 1000, secret: "x".repeat(20) },
    ],
    "openWorld in order": () => [{ ...small, policy: "in-order", streams: 1 }],
    flightRecordOf: () => [status(), 0, 1e18],
    readLaunch: () => [{ DFCCL_RANK: "0", DFCCL_WORLD_SIZE: "1", DFCCL_JOB: "mine" }],
    reportGpus: () => [],
    describeTransport: () => [],
    inspectWorlds: () => [],
    findNativeProgram: () => ["perf_bench", { env: {}, platform: "linux-x64-gnu", find: () => "/nowhere" }],
    writeFlightRecord: () => [record],
  },
  {
    throwing: true,
    except: {
      DeviceBuffer: "is made by rank.allocate(), on a GPU",
      Batch: "is made by rank.submit()",
      makeFolder: "any text is a folder's name",
      World: "is made by openWorld()",
    },
  },
);
