import type { Measurement, OpenBackend } from "@dfccl/collective-tests";
import { describe, expect, it } from "vitest";
import { type CollectiveRow, type HowOften, measureCollective, type RankSetting, type Sides } from "../../src/collectives/measure.js";
import { collectivesMarkdown, collectivesVerdict } from "../../src/collectives/report.js";

const seen: { readonly name: string; readonly measurement: Measurement }[] = [];

/** A library whose n-th run takes n times as long for everything. */
function library(name: "cpu" | "mpi", us: number, wrong = 0): OpenBackend {
  let runs = 0;
  const side = () => ({ us: us * runs, cpuUs: 1, wrong });
  return {
    version: "1",
    devices: [],
    memoryBytes: 2 ** 40,
    machine: {},
    measure: async (measurement, onRow) => {
      seen.push({ name, measurement });
      runs += 1;
      for (const one of measurement.cases) onRow({ backend: name, case: one, outOfPlace: side(), inPlace: side(), at: new Date() });
    },
  };
}

function sides(ours: number, peer: number, wrong = 0): Sides {
  return { ours: library("cpu", ours, wrong), peer: library("mpi", peer) };
}

function how(repetitions: number): HowOften {
  return { repetitions, quicken: 1 };
}

const onTwo: RankSetting = { ranks: 2, mode: "one at a time", hasThreads: false };

describe("every collective beside OpenMPI", () => {
  it("takes turns, and takes medians", async () => {
    seen.length = 0;
    const rows = await measureCollective("all_reduce", onTwo, [8, 4096], how(3), sides(2, 10));
    expect(seen.map(({ name }) => name)).toEqual(["cpu", "mpi", "cpu", "mpi", "cpu", "mpi"]);
    expect(rows).toMatchObject([
      { bytes: 8, oursUs: 4, peerUs: 20, ratio: 5 },
      { bytes: 4096, oursUs: 4, peerUs: 20, ratio: 5 },
    ]);
    expect(rows[0]?.runs).toHaveLength(3);
    expect(seen[0]?.measurement.run.options).toMatchObject({ blocking: 2, check: 1 });
  });

  it("lets sides that stay take turns in programs of their own, and ends them", async () => {
    const asked: string[] = [];
    const staying = (name: "cuda" | "nccl", us: number): OpenBackend => ({
      ...library("cpu", us),
      startTurns: ({ cases }) => ({
        measure: async (row, cycle) => {
          const side = { us: us + cycle, cpuUs: 1, wrong: 0 };
          asked.push(`${name} ${row}`);
          const [one] = cases.slice(row);
          if (one === undefined) throw new Error("no such row");
          return { backend: name, case: one, outOfPlace: side, inPlace: side, at: new Date() };
        },
        end: async () => void asked.push(`${name} ends`),
        stop: () => asked.push(`${name} stops`),
      }),
    });
    const both = { ours: staying("cuda", 2), peer: staying("nccl", 10) };
    const rows = await measureCollective("all_reduce", onTwo, [8, 4096], how(2), both);
    const turn = ["cuda 0", "cuda 1", "nccl 0", "nccl 1"];
    expect(asked).toEqual([...turn, ...turn, "cuda ends", "nccl ends"]);
    expect(rows[1]).toMatchObject({ bytes: 4096, oursUs: 2.5, peerUs: 10.5, ratio: 4.2 });
  });

  it("asks for something even where a rank's share would be nothing", async () => {
    const onFour: RankSetting = { ranks: 4, mode: "back to back", hasThreads: true };
    const [row] = await measureCollective("all_gather", onFour, [8], how(1), sides(1, 1));
    expect(row?.bytes).toBe(64);
  });

  it("stops at a wrong result", async () => {
    await expect(measureCollective("reduce", onTwo, [8], how(1), sides(1, 1, 5))).rejects.toMatchObject({ code: "WRONG_RESULTS" });
  });
});

const row: CollectiveRow = {
  collective: "all_reduce",
  ranks: 2,
  mode: "one at a time",
  hasThreads: false,
  bytes: 4096,
  oursUs: 2,
  peerUs: 10,
  ratio: 5,
  oursGBs: 2.048,
  peerGBs: 0.4096,
  runs: [],
};

it("says where dfccl is ahead, and names every case where it isn't", () => {
  expect(collectivesVerdict([row], "OpenMPI")).toBe("From 4 KiB on dfccl is from 5.0× to 5.0× as fast as OpenMPI: ahead in 1 of 1 cases.");
  const behind = { ...row, collective: "gather", bytes: 8192, ratio: 0.8 } as const;
  expect(collectivesVerdict([row, behind], "OpenMPI")).toMatch(/ahead in 1 of 2 cases\. Behind: gather of 8 KiB on 2 \(0\.80×\)\.$/);
  expect(collectivesVerdict([{ ...row, bytes: 8, ratio: 0.1 }], "OpenMPI")).toBe("Nothing of 4 KiB or more was measured.");
  expect(collectivesVerdict([{ ...row, bytes: 8, ratio: 0.1 }], "NCCL")).toMatch(/^dfccl is from 0\.10× .* Behind: all_reduce of 8 B/);
});

it("lays collectives down and sizes along", () => {
  const machine = { cpu: "Machine", cores: 2, memoryBytes: 2 ** 34, kernel: "Linux 6", node: "20.0.0", loadBefore: 0.1 };
  const header = {
    command: "npx dfccl bench collectives",
    date: "2026-01-02T03:04:05Z",
    commit: "abc",
    machine,
    probe: {},
    repetitions: 3,
    peer: "OpenMPI",
  } as const;
  // What alltoallv makes of 4 KiB is a little less.
  const page = collectivesMarkdown({ header, rows: [row, { ...row, collective: "alltoallv", bytes: 4032, ratio: 12 }] });
  expect(page).toContain("|  | 4 KiB |\n| :-- | --: |\n| all_reduce | 5.0× |\n| alltoallv | 12× |");
});
