import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { decodePolicy, policyByName, policyNames } from "@dfccl/scheduler";
import { describe, expect, it } from "vitest";
import { joinWorld, openWorld } from "../src/index.js";
import { nativeAddon } from "../src/native-addon/native-world.js";
import { engineOf } from "../src/world.js";

const guide = readFileSync(new URL("../../../docs/defaults.md", import.meta.url), "utf8");

/** What a world that nobody has told anything really has. */
const inForce = (world: Parameters<typeof engineOf>[0]) => engineOf(world).native.options();

describe("without options a world has what the engine's table says", () => {
  it.each([1, 2, 64])("opened with %i ranks", (ranks) => {
    using world = openWorld({ ranks });
    const { inOrderPolicy: _, ...table } = nativeAddon().defaultOptions("cpu", ranks, "process");
    expect(inForce(world)).toEqual(table);
    expect(world.policy).toEqual(decodePolicy(table.policy));
  });

  it("joined", async () => {
    await using rank = await joinWorld({ launch: { rank: 0, size: 1, job: `defaults-${process.pid}` } });
    const { inOrderPolicy: _, ...table } = nativeAddon().defaultOptions("cpu", 1, "machine");
    expect(inForce(rank.world)).toEqual(table);
  });

  it("and room for the program blocks of as many collectives as are asked for", () => {
    using world = openWorld({ ranks: 1, maxCollectives: 100 });
    expect(inForce(world)).toMatchObject({ collectives: 100, tasks: 200 });
  });

  it("in order", () => {
    using world = openWorld({ ranks: 1, policy: "in-order" });
    expect(world.policy).toEqual(decodePolicy(nativeAddon().defaultOptions("cpu", 1, "process").inOrderPolicy));
  });

  it("and named policies differ from it in nothing but their kind, and what a lap takes in", () => {
    const { quit, stickiness, order } = decodePolicy(nativeAddon().defaultOptions("cpu", 1, "process").policy);
    for (const name of policyNames.filter((policy) => policy !== "in-order")) {
      using world = openWorld({ ranks: 1, policy: name });
      const { kind: _, fetchesPerLap: __, ...fetching } = order;
      expect(world.policy.order).toMatchObject(fetching);
      expect(world.policy.stickiness).toEqual({ ...stickiness, kind: world.policy.stickiness.kind });
      expect(world.policy.quit).toEqual(quit);
    }
  });

  it.each(policyNames)("whether %s is given by name, or as plain data with a world's numbers", (name) => {
    using usual = openWorld({ ranks: 1 });
    using byName = openWorld({ ranks: 1, policy: name });
    using byData = openWorld({ ranks: 1, policy: policyByName(name, usual.policy) });
    expect(byData.policy).toEqual(byName.policy);
    expect(inForce(byData)).toEqual(inForce(byName));
  });
});

describe("docs/defaults.md", () => {
  const cell = (value: number, name: string): string => {
    if (name.endsWith("Bytes")) return `${value / 1024} KiB`;
    return value >= 10_000 ? value.toLocaleString("en") : `${value}`;
  };

  /** Rows in the order of the document: option, CPU, GPU. */
  const rows = (): readonly (readonly [string, string, string])[] => {
    const cpu = nativeAddon().defaultOptions("cpu", 1, "process");
    const gpu = nativeAddon().defaultOptions("cuda", 1, "process");
    const numbers = ["submissionSlots", "completionSlots", "collectives", "tasks", "slotPayloadBytes", "directTileBytes"] as const;
    const policies = [cpu, gpu].map(({ policy }) => decodePolicy(policy));
    const [ofCpu, ofGpu] = policies;
    if (!ofCpu || !ofGpu) throw new Error("no policies");
    const parts = ["order", "stickiness", "quit"] as const;
    return [
      ...numbers.map((name) => [name, cell(cpu[name], name), cell(gpu[name], name)] as const),
      ...parts.flatMap((part) =>
        Object.keys(ofCpu[part]).map((field) => {
          const text = (policy: typeof ofCpu): string => {
            const value = (policy[part] as unknown as Record<string, string | number>)[field];
            return typeof value === "number" ? cell(value, field) : `${value}`;
          };
          return [`policy.${part}.${field}`, text(ofCpu), text(ofGpu)] as const;
        }),
      ),
    ];
  };

  it("shows the engine's numbers", () => {
    const shown = [...guide.matchAll(/^\| `([\w.]+)`[^|]*\| ([^|]+?) +\| ([^|]+?) +\|/gm)].map(([, name, cpu, gpu]) => [name, cpu, gpu]);
    expect(shown).toEqual(rows());
  });

  it("says how blocks and workers follow from cores", () => {
    const cores = availableParallelism();
    for (const ranks of [1, 3, 1024]) {
      const { grid, workers } = nativeAddon().defaultOptions("cpu", ranks, "process");
      expect([grid, workers]).toEqual([Math.max(1, Math.floor(cores / ranks)), Math.max(1, cores - 1)]);
    }
    expect(nativeAddon().defaultOptions("cpu", 1, "machines")).toMatchObject({ grid: 1, workers: 1 });
    expect(nativeAddon().defaultOptions("cuda", 1, "machines")).toMatchObject({ grid: 17 });
  });
});
