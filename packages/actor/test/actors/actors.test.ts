import { describe, expect, it } from "vitest";
import {
  type ActorPlan,
  ActorsStuckError,
  decodeTaskId,
  encodeTaskId,
  type Kernel,
  type RegisterSpec,
  runActors,
  type TaskSpec,
  VirtualClock,
} from "../../src/index.js";
import { taskId } from "../support/names.js";

const nothing: Kernel = (_act, done) => done();

/** source → pack of K → join, and source → join beside it with `count` registers. */
function packedBeside(k: number, count: number): ActorPlan {
  const edge = (id: number, producer: number, consumer: number, more: Partial<RegisterSpec> = {}): RegisterSpec => ({
    id,
    producer: taskId(producer),
    consumers: [taskId(consumer)],
    ...more,
  });
  const task = (id: number, name: string, consumes: number[], produces: number[], more: Partial<TaskSpec> = {}): TaskSpec => ({
    id: taskId(id),
    name,
    consumes,
    produces,
    kernel: nothing,
    ...more,
  });
  return {
    tasks: [
      task(0, "source", [], [0, 1], { records: 2 * k }),
      task(1, "pack", [0], [2], { rhythm: { actsPerOutput: k } }),
      task(2, "repeat", [2], [3], { rhythm: { actsPerInput: k } }),
      task(3, "join", [1, 3], []),
    ],
    registers: [edge(0, 0, 1), edge(1, 0, 3, { count }), edge(2, 1, 2), edge(3, 2, 3, { inPlaceOf: 2 })],
  };
}

describe("task ids", () => {
  it("hold every field in its bits", () => {
    const most = { rank: 0xffff, deviceType: 31, deviceIndex: 127, stream: 0x7fff, task: 0x1f_ffff };
    expect(encodeTaskId(most)).toBe(0xffff_ffff_ffff_ffffn);
    expect(decodeTaskId(encodeTaskId(most))).toEqual(most);
    const some = { rank: 3, deviceType: 1, deviceIndex: 5, stream: 2, task: 77 };
    expect(decodeTaskId(encodeTaskId(some))).toEqual(some);
    expect(() => encodeTaskId({ rank: 0x1_0000, task: 0 })).toThrow("a whole number from 0 to 65535");
  });
});

describe("actors", () => {
  it("need K registers beside a path that packs K, and say where one less gets stuck", async () => {
    await runActors(packedBeside(3, 3)).finished;
    const error = await runActors(packedBeside(3, 2)).finished.catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(ActorsStuckError);
    expect(error).toMatchObject({ code: "ACTORS_STUCK", facts: { waiting: [{ task: "source", registersAt: ["join"] }, {}, {}, {}] } });
  });

  it("act as often as registers allow before anybody reads: that is back-pressure", async () => {
    for (const count of [1, 2, 5]) {
      const clock = new VirtualClock();
      const begun: number[] = [];
      const plan: ActorPlan = {
        tasks: [
          {
            id: taskId(0),
            name: "fast",
            consumes: [],
            produces: [0],
            records: 12,
            kernel: (_act, done) => {
              begun.push(clock.now());
              done();
            },
          },
          { id: taskId(1, 0, 1), name: "slow", consumes: [0], produces: [], kernel: (_act, done) => void clock.after(100, done) },
        ],
        registers: [{ id: 0, producer: taskId(0), consumers: [taskId(1, 0, 1)], count }],
      };
      const { finished } = runActors(plan, { clock, bus: { send: (message, deliver) => void clock.after(0, () => deliver(message)) } });
      clock.run();
      await finished;
      expect(begun.filter((at) => at < 100).length).toBe(count);
      expect(begun.length).toBe(12);
    }
  });

  it("stop early when told to, and give everything back", async () => {
    let acts = 0;
    const plan: ActorPlan = {
      tasks: [
        { id: taskId(0), name: "endless", consumes: [], produces: [0], records: 1_000_000, kernel: nothing },
        {
          id: taskId(1, 1),
          name: "sink",
          consumes: [0],
          produces: [],
          kernel: (_act, done) => {
            acts += 1;
            if (acts === 10) run.stop();
            done();
          },
        },
      ],
      registers: [{ id: 0, producer: taskId(0), consumers: [taskId(1, 1)], count: 2 }],
    };
    const run = runActors(plan);
    await run.finished;
    expect(acts).toBeGreaterThanOrEqual(10);
    expect(acts).toBeLessThan(20);
  });

  it("end with a kernel's failure and its name", async () => {
    const plan = packedBeside(2, 2);
    const tasks = plan.tasks.map(
      (task): TaskSpec =>
        task.name === "join"
          ? {
              ...task,
              kernel: () => {
                throw new Error("no memory");
              },
            }
          : task,
    );
    await expect(runActors({ ...plan, tasks }).finished).rejects.toMatchObject({ code: "KERNEL", facts: { task: "join", act: 0 } });
  });

  it("run without tasks, and tasks without readers", async () => {
    await runActors({ tasks: [], registers: [] }).finished;
    await runActors({
      tasks: [{ id: taskId(0), name: "lonely", consumes: [], produces: [0], records: 3, kernel: nothing }],
      registers: [{ id: 0, producer: taskId(0), consumers: [] }],
    }).finished;
  });

  const good = packedBeside(2, 2);
  const change = (id: number, more: Partial<RegisterSpec>): ActorPlan => ({
    ...good,
    registers: good.registers.map((spec) => (spec.id === id ? { ...spec, ...more } : spec)),
  });
  const changeTask = (name: string, more: Partial<TaskSpec>): ActorPlan => ({
    ...good,
    tasks: good.tasks.map((task) => (task.name === name ? { ...task, ...more } : task)),
  });
  it.each<readonly [string, string, ActorPlan]>([
    ["a register count of 0", "REGISTER_COUNT", change(1, { count: 0 })],
    ["a register count that is no whole number", "REGISTER_COUNT", change(1, { count: 1.5 })],
    ["more registers than a plan may have", "REGISTER_COUNT", change(1, { count: 2 ** 23 })],
    ["registers that nothing has memory for", "REGISTER_MEMORY", change(1, { elements: 2 ** 50 })],
    ["an id twice", "DUPLICATE_ID", { ...good, tasks: [...good.tasks, ...good.tasks.slice(0, 1)] }],
    ["a register id twice", "DUPLICATE_ID", { ...good, registers: [...good.registers, ...good.registers.slice(0, 1)] }],
    ["a consumer that doesn't consume", "UNKNOWN_TASK", change(1, { consumers: [taskId(1)] })],
    ["a producer that isn't there", "UNKNOWN_TASK", change(1, { producer: taskId(9) })],
    ["a register that isn't there", "UNKNOWN_REGISTER", changeTask("join", { consumes: [1, 3, 9] })],
    ["in place of what isn't consumed", "IN_PLACE", change(3, { inPlaceOf: 0 })],
    ["a rhythm of 0", "RHYTHM", changeTask("pack", { rhythm: { actsPerOutput: 0 } })],
    ["a source without an end", "RHYTHM", { ...good, tasks: good.tasks.map(({ records: _records, ...task }) => task) }],
  ])("refuse %s before anything starts", (_what, code, plan) => {
    expect(() => runActors(plan)).toThrow(expect.objectContaining({ code, remedy: expect.stringMatching(/^[A-Z].*\.$/) }));
  });

  it("say what a kernel threw, whatever it is, and what memory they didn't get", async () => {
    const thrown: readonly unknown[] = [Object.create(null), Symbol("s"), Proxy.revocable({}, {}).proxy, "plainly"];
    for (const reason of thrown) {
      const kernel = (): void => {
        throw reason;
      };
      await expect(runActors(changeTask("source", { kernel })).finished).rejects.toMatchObject({ code: "KERNEL", cause: reason });
    }
    expect(() => runActors(good, { allocate: () => [] as never })).toThrow(expect.objectContaining({ code: "REGISTER_MEMORY" }));
  });

  it.each([null, {}, 5])("refuse a pick that is none of those who can act: %o", async (picked) => {
    await expect(runActors(good, { pick: () => picked as never }).finished).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      facts: { argument: "pick" },
    });
  });

  it("name the circle that a graph has", () => {
    const a = { id: taskId(0), name: "a", consumes: [1], produces: [0], kernel: nothing };
    const b = { id: taskId(1), name: "b", consumes: [0], produces: [1], kernel: nothing };
    const registers = [
      { id: 0, producer: a.id, consumers: [b.id] },
      { id: 1, producer: b.id, consumers: [a.id] },
    ];
    expect(() => runActors({ tasks: [a, b], registers })).toThrow(
      expect.objectContaining({ code: "CYCLIC_GRAPH", facts: { cycle: ["b", "a", "b"] } }),
    );
  });
});
