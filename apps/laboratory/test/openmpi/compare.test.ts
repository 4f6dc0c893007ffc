import { BenchError } from "dfccl/internal/measurement";
import { describe, expect, it } from "vitest";
import { type Case, commandsOf, compare, type Sides } from "../../src/openmpi/compare.js";

const one: Case = { ranks: 2, bytes: 4096 };

/** Sides that answer with these times, one after the other, and write down who was asked. */
function sidesWith(ours: readonly number[], openmpi: readonly number[]): Sides & { readonly asked: string[] } {
  const asked: string[] = [];
  const side = (engine: string, times: readonly number[]) => {
    let next = 0;
    return async (): Promise<string> => {
      asked.push(engine);
      return `something for people\n{"engine":"${engine}","us":${times[next++]},"wrong":0}\n`;
    };
  };
  return { ours: side("dfccl", ours), openmpi: side("openmpi", openmpi), asked };
}

describe("a comparison", () => {
  it("lets both sides take turns, and compares their medians", async () => {
    const sides = sidesWith([10, 90, 20], [60, 50, 40]);
    let runs = 0;
    const row = await compare(one, 3, sides, () => {
      runs += 1;
    });
    expect(sides.asked).toEqual(["dfccl", "openmpi", "dfccl", "openmpi", "dfccl", "openmpi"]);
    expect(row).toMatchObject({ bytes: 4096, ranks: 2, oursUs: 20, openmpiUs: 50, ratio: 2.5 });
    expect(row.runs).toEqual([
      { oursUs: 10, openmpiUs: 60 },
      { oursUs: 90, openmpiUs: 50 },
      { oursUs: 20, openmpiUs: 40 },
    ]);
    expect(runs).toBe(6);
  });

  it("refuses a time whose results are wrong", async () => {
    const sides = { ...sidesWith([1], [1]), openmpi: async () => '{"engine":"openmpi","us":3,"wrong":7}' };
    await expect(compare(one, 1, sides)).rejects.toMatchObject({ code: "WRONG_RESULTS", message: expect.stringContaining("7 elements") });
  });

  it.each([
    ["nothing", ""],
    ["no time", '{"engine":"dfccl","wrong":0}'],
    ["a time that is none", '{"engine":"dfccl","us":0,"wrong":0}'],
    ["another engine's time", '{"engine":"openmpi","us":3,"wrong":0}'],
    ["two times", '{"engine":"dfccl","us":3,"wrong":0}\n{"engine":"dfccl","us":4,"wrong":0}'],
  ])("refuses a program that printed %s", async (_, output) => {
    const sides = { ...sidesWith([1], [1]), ours: async () => output };
    await expect(compare(one, 1, sides)).rejects.toThrow(BenchError);
  });
});

describe("command lines", () => {
  const options = { mode: "caller", budgetSeconds: 0.3, iterations: 10 };
  const openmpi = { mpirun: "/usr/bin/mpirun", program: "/b/openmpi_allreduce_mpi" };

  it("ask both sides for the same size", () => {
    const commands = commandsOf("/b", openmpi, { ...options, isRoot: false });
    expect([commands.ours(one).command, ...commands.ours(one).args].join(" ")).toBe(
      "/b/allreduce_bench --ranks 2 --mode caller --probe no --bytes 4096 --budget 0.3",
    );
    expect([commands.openmpi(one).command, ...commands.openmpi(one).args].join(" ")).toBe(
      "/usr/bin/mpirun --oversubscribe --bind-to none --mca btl self,vader -np 2 /b/openmpi_allreduce_mpi --bytes 4096 --budget 0.3",
    );
  });

  it("ask for a list of tensors, in random orders on our side only", () => {
    const commands = commandsOf("/b", openmpi, { ...options, isRoot: true });
    const list = { ranks: 8, bytes: 1, tensors: "resnet50" };
    expect(commands.ours(list).args.join(" ")).toContain("--tensors resnet50 --iterations 10 --order random");
    expect(commands.openmpi(list).args.join(" ")).not.toContain("--order");
    expect(commands.openmpi(list).args[0]).toBe("--allow-run-as-root");
  });
});
