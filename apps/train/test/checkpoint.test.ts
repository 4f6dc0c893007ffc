import { basename } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Checkpoint, decodeCheckpoint, encodeCheckpoint } from "../src/checkpoint/format.js";
import { type CheckpointFiles, CheckpointStore } from "../src/checkpoint/store.js";

const checkpoint = (step: number): Checkpoint => ({
  model: "mnist",
  seed: 1,
  globalBatch: 8,
  optimizer: "adam",
  losses: [2.5, 0.1 + 0.2],
  state: {
    step,
    arrays: [
      { name: "w — ä", shape: [2, 2], values: Float32Array.of(1, -2, 3.5, 1e-30) },
      { name: "steps", shape: [], values: Float32Array.of(7) },
    ],
  },
});

describe("a checkpoint's file", () => {
  it("gives back what was written", () => {
    expect(decodeCheckpoint(encodeCheckpoint(checkpoint(3)))).toEqual(checkpoint(3));
  });

  it("is known to be corrupt whichever byte is changed, and wherever it is cut off", () => {
    const file = encodeCheckpoint(checkpoint(3));
    fc.assert(
      fc.property(fc.nat(file.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const changed = Uint8Array.from(file);
        changed[at] = (changed[at] ?? 0) ^ change;
        return typeof decodeCheckpoint(changed) === "string" && typeof decodeCheckpoint(file.subarray(0, at)) === "string";
      }),
    );
  });
});

describe("a store of checkpoints", () => {
  /** Files in memory, which fail from the given operation on, as when the machine stops. */
  function memoryFiles(failAt = Number.POSITIVE_INFINITY): { files: CheckpointFiles; content: Map<string, Uint8Array> } {
    const content = new Map<string, Uint8Array>();
    let operations = 0;
    const act = (): void => {
      if (operations++ >= failAt) throw new Error("power failure");
    };
    const files: CheckpointFiles = {
      makeFolder: () => undefined,
      list: () => [...content.keys()].map((path) => basename(path)),
      read: (path) => content.get(path) ?? new Uint8Array(),
      write(path, bytes) {
        // Half of it reaches the disk before a failure.
        content.set(path, bytes.subarray(0, bytes.length / 2));
        act();
        content.set(path, bytes);
      },
      rename(from, to) {
        act();
        content.set(to, content.get(from) ?? new Uint8Array());
        content.delete(from);
      },
      remove(path) {
        act();
        content.delete(path);
      },
    };
    return { files, content };
  }

  it("keeps the last two", () => {
    const { files, content } = memoryFiles();
    const store = new CheckpointStore("/run", files);
    for (const step of [1, 2, 9, 10]) store.save(checkpoint(step));
    expect([...content.keys()].sort()).toEqual(["/run/step-00000009.checkpoint", "/run/step-00000010.checkpoint"]);
    expect(store.load().state.step).toBe(10);
  });

  it("keeps what a shorter run saves where a longer one was, sets the longer one's aside, and resumes the shorter one", () => {
    const { files, content } = memoryFiles();
    for (const step of [8, 90, 100]) new CheckpointStore("/run", files).save(checkpoint(step));
    const store = new CheckpointStore("/run", files);
    expect(content.has(store.save(checkpoint(10)))).toBe(true);
    expect(store.load().state.step).toBe(10);
    store.save(checkpoint(20));
    expect(store.load().state.step).toBe(20);
    const former = ["/run/step-00000090.checkpoint.former", "/run/step-00000100.checkpoint.former"];
    expect([...content.keys()].sort()).toEqual(["/run/step-00000010.checkpoint", "/run/step-00000020.checkpoint", ...former]);
  });

  it("has a whole checkpoint wherever saving the next one stops", () => {
    for (let failAt = 6; failAt < 9; failAt += 1) {
      const { files } = memoryFiles(failAt);
      const store = new CheckpointStore("/run", files);
      let saved = 0;
      expect(() => {
        for (const step of [1, 2, 3, 4, 5]) {
          store.save(checkpoint(step));
          saved = step;
        }
      }).toThrow("power failure");
      expect(store.load().state.step).toBeGreaterThanOrEqual(saved);
      expect(saved).toBeGreaterThan(0);
    }
  });

  it("passes over one that can't be read", () => {
    const { files } = memoryFiles();
    const store = new CheckpointStore("/run", {
      ...files,
      read(path) {
        if (path.includes("2")) throw new Error("input/output error");
        return files.read(path);
      },
    });
    for (const step of [1, 2]) store.save(checkpoint(step));
    const problems: string[] = [];
    expect(store.load((_path, problem) => problems.push(problem)).state.step).toBe(1);
    expect(problems).toEqual(["it can't be read: input/output error"]);
  });

  it("names every corrupt one where none is whole", () => {
    const { files, content } = memoryFiles();
    const store = new CheckpointStore("/run", files);
    store.save(checkpoint(1));
    for (const [path, bytes] of content) content.set(path, bytes.subarray(0, 40));
    expect(() => store.load()).toThrow(/No checkpoint is whole: \/run\/step-00000001\.checkpoint: its checksum is wrong/);
  });
});
