import { InvalidArgumentError } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import { EngineError, joinWorld, NotLaunchedError, readLaunch } from "../../src/index.js";
import { failureOf } from "../support/open.js";
import { apart, hasUcx, type Launcher, launchers, start } from "./processes.js";

const ranks = 3;
const limit = 60_000;

describe("one rank a process", () => {
  it.each(Object.entries(launchers))(
    "runs every collective in any order, as %s starts it, bit for bit",
    { timeout: limit },
    async (_, launcher) => {
      const processes = start("collectives", launcher(ranks));
      for (const [rank, process] of processes.entries()) {
        const { code, stderr } = await process.ended();
        expect(stderr).toBe("");
        expect(await process.told(1)).toEqual([{ rank, size: ranks, wrong: 0, runs: 30 }]);
        expect(code).toBe(0);
      }
    },
  );

  it.skipIf(!hasUcx())(
    "runs every collective in any order, on machines that share no memory, bit for bit",
    { timeout: limit },
    async () => {
      const processes = start("collectives", apart(4));
      for (const [rank, process] of processes.entries()) {
        const { code, stderr } = await process.ended();
        expect(stderr).toBe("");
        expect(await process.told(1)).toEqual([{ rank, size: 4, wrong: 0, runs: 30 }]);
        expect(code).toBe(0);
      }
    },
  );

  it("runs collectives without registration, from memory of any kind", { timeout: limit }, async () => {
    const processes = start("matching", launchers.dfccl(ranks));
    for (const [rank, process] of processes.entries()) {
      const { code, stderr } = await process.ended();
      expect(stderr).toBe("");
      expect(await process.told(1)).toEqual([{ rank, size: ranks, wrong: 0 }]);
      expect(code).toBe(0);
    }
  });

  it("copies arrays of any sizes, one after the other, that have no room side by side", { timeout: limit }, async () => {
    for (const process of start("copies", launchers.dfccl(2))) {
      const { code, stderr } = await process.ended();
      expect(stderr).toBe("");
      expect(await process.told(1)).toEqual([[2, 2, 2, 2]]);
      expect(code).toBe(0);
    }
  });

  it("passes micro-batches through four stages that all send before they receive", { timeout: limit }, async () => {
    for (const [rank, process] of start("pipeline", launchers.dfccl(4)).entries()) {
      const { code, stderr } = await process.ended();
      expect(stderr).toBe("");
      expect(await process.told(1)).toEqual([{ rank, results: rank === 0 ? 30 : 0, wrong: 0 }]);
      expect(code).toBe(0);
    }
  });

  it("receives from any rank while it sleeps, and fails when nobody is left who might send", { timeout: limit }, async () => {
    const [receiver] = start("any-source", launchers.dfccl(2));
    expect(await receiver?.told(1)).toEqual([
      { from: 1, value: 7, lost: { collective: expect.stringMatching(/^receive from any/), lost: [{ rank: 1, presence: "died" }] } },
    ]);
    expect((await receiver?.ended())?.code).toBe(0);
  });

  it.each([
    ["SIGKILL", "died"],
    ["SIGSTOP", "mute"],
    ["SIGTERM", "died"],
  ] as const)("names a rank that %s has struck, and goes on without it", { timeout: limit }, async (signal, presence) => {
    const processes = start(
      "survivor",
      launchers.dfccl(ranks).map((env) => ({ ...env, SILENCE_MS: "500" })),
    );
    for (const process of processes) await process.told(1);
    const victim = processes[1]?.child;
    victim?.kill(signal);
    for (const rank of [0, 2]) {
      const process = processes[rank];
      const [, told] = (await process?.told(2)) ?? [];
      expect(told).toMatchObject({ lost: { lost: [{ rank: 1, presence }] }, ranks: [0, 2], sum: 2 });
      expect(told).toHaveProperty("message", expect.stringMatching(/^all-reduce 1 on rank \d can't complete: rank 1 /));
      expect((await process?.ended())?.code).toBe(0);
    }
    victim?.kill("SIGKILL");
    await processes[1]?.ended();
  });
});

describe("agreeOnSurvivors", () => {
  const shrinkToTwo = async (launcher: Launcher) => {
    const processes = start("shrinking", launcher(4));
    for (const process of processes) await process.told(1);
    for (const rank of [1, 3]) processes[rank]?.child.kill("SIGKILL");
    for (const rank of [0, 2]) {
      const [, told] = (await processes[rank]?.told(2)) ?? [];
      expect(told).toEqual({ ranks: [0, 2], sum: 2 });
      expect(await processes[rank]?.ended()).toEqual({ code: 0, signal: null, stderr: "" });
    }
  };

  it("gives all survivors of two deaths at once the same list", { timeout: limit }, () => shrinkToTwo(launchers.dfccl));

  it.skipIf(!hasUcx())("does so on machines that share no memory", { timeout: limit }, () => shrinkToTwo(apart));

  it.skipIf(!hasUcx())("tells the machine that reaches too few others that it can't go on", { timeout: limit }, async () => {
    const processes = start("survivor", apart(2, 1));
    for (const process of processes) await process.told(1);
    processes[0]?.child.kill("SIGKILL");
    const { code, stderr } = (await processes[1]?.ended()) ?? {};
    expect(code).toBe(1);
    expect(stderr).toContain("Rank 1 reaches ranks 1, too few to go on");
  });

  it("names the ranks that don't come in time, and can be asked again", { timeout: limit }, async () => {
    const processes = start("unheard", launchers.dfccl(2));
    expect(await processes[0]?.told(1)).toEqual([{ code: "TIMEOUT", facts: { timeoutMs: 1, missing: [1] } }]);
    await processes[1]?.told(1);
    processes[1]?.child.stdin?.write("come\n");
    for (const process of processes) {
      const [, told] = await process.told(2);
      expect(told).toEqual({ survivors: [0, 1], again: [0, 1] });
      expect((await process.ended()).code).toBe(0);
    }
  });
});

describe("joinWorld", () => {
  const alone = { rank: 0, size: 2, job: `nobody-else-${process.pid}` };
  const factsOfAlone = { job: alone.job, rank: 0, worldSize: 2, timeoutMs: 100 };

  it("wants a secret where strangers could come", async () => {
    const failure = await failureOf(joinWorld({ launch: { ...alone, address: "192.0.2.1:29500" }, timeoutMs: 100 }));
    expect(failure).toMatchObject({ code: "INVALID_ARGUMENT", facts: { field: "DFCCL_JOB_SECRET" } });
  });

  it("names the rank that doesn't come to the address, too", async () => {
    const launch = { ...alone, address: "127.0.0.1:29817" };
    const failure = await failureOf(joinWorld({ launch, timeoutMs: 100 }));
    expect(failure).toMatchObject({ code: "TIMEOUT", facts: { ...factsOfAlone, missing: [1] } });
    expect(String(failure)).toContain("Rank 1 of 2 did not come");
  });

  it("names the rank that doesn't come within its time", async () => {
    const failure = await failureOf(joinWorld({ launch: alone, timeoutMs: 100 }));
    expect(failure).toBeInstanceOf(EngineError);
    expect(failure).toMatchObject({ code: "TIMEOUT", facts: { ...factsOfAlone, missing: [1] } });
    expect(String(failure)).toContain("Rank 1 of 2 did not come");
  });

  it("says that rank 0 is missing where it doesn't come", async () => {
    const failure = await failureOf(joinWorld({ launch: { ...alone, rank: 1 }, timeoutMs: 100 }));
    expect(failure).toMatchObject({ code: "TIMEOUT", facts: { ...factsOfAlone, rank: 1, missing: [0] } });
  });

  it("tells two processes that are rank 0 of one job so, and which these are", { timeout: limit }, async () => {
    const [first = {}] = launchers.dfccl(2);
    const processes = start("claim", [first, first]);
    for (const process of processes) {
      const [told] = await process.told(1);
      expect(told).toMatchObject({ code: "IN_USE", facts: { rank: 0, claimed: 0 } });
      for (const { child } of processes) expect(told).toHaveProperty("message", expect.stringContaining(`${child.pid}`));
    }
  });

  it("tells a process whose rank another one has in a job that has met", { timeout: limit }, async () => {
    const environments = launchers.dfccl(2);
    const processes = start("claim", environments);
    for (const process of processes) await process.told(1);
    for (const [rank, env] of environments.entries()) {
      const [late] = start("claim", [{ ...env, DFCCL_JOIN_TIMEOUT: "0.3" }]);
      const [told] = (await late?.told(1)) ?? [];
      expect(told).toMatchObject({ code: "IN_USE", facts: { claimed: rank, holder: processes[rank]?.child.pid } });
    }
    for (const process of processes) process.child.kill("SIGKILL");
  });

  it("gives up when the signal says so", async () => {
    const failure = await failureOf(joinWorld({ launch: alone, signal: AbortSignal.abort() }));
    expect(failure).toHaveProperty("code", "ABORTED");
  });

  it("says what is missing where nobody has launched the process", async () => {
    expect(readLaunch({})).toBeUndefined();
    if (readLaunch() === undefined) expect(await failureOf(joinWorld())).toBeInstanceOf(NotLaunchedError);
  });

  it("refuses what can't be before it waits for anybody", async () => {
    expect(await failureOf(joinWorld({ launch: alone, policy: "in-order" }))).toBeInstanceOf(InvalidArgumentError);
    expect(await failureOf(joinWorld({ launch: alone, timeoutMs: 0 }))).toBeInstanceOf(InvalidArgumentError);
    expect(await failureOf(joinWorld({ launch: { ...alone, rank: 2 } }))).toHaveProperty("code", "INVALID_ARGUMENT");
    for (const wrong of [null, 5, { launch: { ...alone, job: 5 } }, { launch: alone, secret: 5 }, { launch: alone, flightRecord: 5 }]) {
      expect(await failureOf(joinWorld(wrong as never))).toBeInstanceOf(InvalidArgumentError);
    }
  });

  it.each(["0", 0.5, -1, Number.NaN, 2 ** 32, 1, undefined])("takes no rank %s of one", async (rank) => {
    const launch = { rank: rank as number, size: 1, job: `no-rank-${process.pid}` };
    const failure = await failureOf(joinWorld({ launch, timeoutMs: 1000 }));
    expect(failure).toBeInstanceOf(InvalidArgumentError);
    expect(failure).toMatchObject({ facts: { argument: "rank" } });
  });

  it("is a world of its own for a single rank, and joins again after it has closed", async () => {
    for (let round = 0; round < 3; round += 1) {
      await using rank = await joinWorld({ launch: { rank: 0, size: 1, job: `single-${process.pid}` } });
      const x = rank.allocate("float64", 4).fill(2);
      await rank.register({ id: 0, collective: "all-reduce", dataType: "float64", count: 4 }).run(x, x);
      expect([...x]).toEqual([2, 2, 2, 2]);
      expect(rank.survivors()).toEqual([0]);
    }
  });
});

describe("readLaunch", () => {
  it("prefers the launcher that is nearest, and takes the job's name from it", () => {
    const mpirun = { OMPI_COMM_WORLD_RANK: "1", OMPI_COMM_WORLD_SIZE: "4", OMPI_COMM_WORLD_LOCAL_SIZE: "4", PMIX_NAMESPACE: "ns1" };
    expect(readLaunch({ ...mpirun, RANK: "0", WORLD_SIZE: "2" })).toEqual({ launcher: "mpirun", rank: 1, size: 4, job: "mpirun-ns1" });
    expect(readLaunch({ ...mpirun, DFCCL_JOB: "mine" })).toHaveProperty("job", "mine");
  });

  it("tells where ranks of several machines meet", () => {
    const two = { RANK: "1", WORLD_SIZE: "4", LOCAL_WORLD_SIZE: "2", MASTER_ADDR: "node-0", MASTER_PORT: "29500" };
    expect(readLaunch(two)).toHaveProperty("address", "node-0:29500");
    expect(readLaunch({ ...two, TORCHELASTIC_USE_AGENT_STORE: "True" })).toHaveProperty("address", "node-0:29501");
    expect(readLaunch({ ...two, MASTER_ADDR: "fd00::1" })).toHaveProperty("address", "[fd00::1]:29500");
    expect(readLaunch({ ...two, DFCCL_ADDRESS: "other:1" })).toHaveProperty("address", "other:1");
    expect(readLaunch({ ...two, LOCAL_WORLD_SIZE: "4" })).not.toHaveProperty("address");
    expect(readLaunch({ ...two, LOCAL_WORLD_SIZE: undefined })).toHaveProperty("address", "node-0:29500");
    expect(readLaunch({ ...two, LOCAL_WORLD_SIZE: undefined, MASTER_ADDR: "localhost" })).not.toHaveProperty("address");
    expect(readLaunch({ ...two, DFCCL_HOST: "blade 7" })).toHaveProperty("host", "blade 7");
  });

  it.each([
    ["a rank that is no number", { RANK: "one", WORLD_SIZE: "2", MASTER_PORT: "1" }, "RANK"],
    ["a rank beyond the world", { RANK: "2", WORLD_SIZE: "2", MASTER_PORT: "1" }, "RANK"],
    ["no size", { RANK: "0", MASTER_PORT: "1" }, "WORLD_SIZE"],
    ["no job", { RANK: "0", WORLD_SIZE: "2" }, "MASTER_ADDR"],
    ["several machines", { RANK: "0", WORLD_SIZE: "4", LOCAL_WORLD_SIZE: "2", MASTER_PORT: "1" }, "LOCAL_WORLD_SIZE"],
  ])("names the variable in case of %s", (_, env, field) => {
    expect(() => readLaunch(env)).toThrowError(
      expect.objectContaining({ code: "INVALID_ARGUMENT", facts: expect.objectContaining({ field }) }),
    );
  });
});
