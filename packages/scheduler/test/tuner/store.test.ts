import { execFileSync } from "node:child_process";
import { lstat, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadTuning, saveTuning, type TuneResult, TuningFileError, tune } from "../../src/tuner/index.js";

const machine = { processor: "a processor", cores: 2 };
const savedAt = new Date("2024-05-06T07:08:09Z");

describe("a tuning file", () => {
  let folder = "";
  let path = "";
  let result: TuneResult;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "dfccl-tuning-"));
    path = join(folder, "tuning.json");
    result = await tune({
      measure: ({ initialThreshold: n }) => [{ ns: n + 900 / n }],
      start: { initialThreshold: 4, raiseFactor: 2, idleVisits: 10_000 },
      ranges: { initialThreshold: [1, 512], raiseFactor: [1, 4], idleVisits: [1000, 10_000] },
    });
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("gives back what was saved, and leaves nothing else behind", async () => {
    await saveTuning(path, result, machine, savedAt);
    const { best, gain, curve, fit } = result;
    expect(await loadTuning(path, { cores: 2, processor: "a processor" })).toEqual({
      ok: true,
      tuning: { machine, savedAt: "2024-05-06T07:08:09.000Z", best, gain, curve, fit },
    });
    expect(await readdir(folder)).toEqual(["tuning.json"]);
  });

  it("may begin with a byte order mark", async () => {
    await saveTuning(path, result, machine, savedAt);
    await writeFile(path, `\uFEFF${await readFile(path, "utf8")}`);
    expect(await loadTuning(path, machine)).toMatchObject({ ok: true });
  });

  it("replaces what a link leads to, and no device", async () => {
    const link = join(folder, "link.json");
    await symlink("tuning.json", link);
    await writeFile(path, "older");
    await saveTuning(link, result, machine, savedAt);
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(await loadTuning(path, machine)).toMatchObject({ ok: true });
    await expect(saveTuning("/dev/full", result, machine, savedAt)).rejects.toThrow("ENOSPC");
    expect((await lstat("/dev/full")).isCharacterDevice()).toBe(true);
    await symlink("new.json", join(folder, "nowhere.json"));
    await saveTuning(join(folder, "nowhere.json"), result, machine, savedAt);
    expect(await loadTuning(join(folder, "new.json"), machine)).toMatchObject({ ok: true });
    execFileSync("mkfifo", [join(folder, "pipe")]);
    await expect(saveTuning(join(folder, "pipe"), result, machine, savedAt)).rejects.toThrow("ENXIO");
    expect((await readdir(folder)).sort()).toEqual(["link.json", "new.json", "nowhere.json", "pipe", "tuning.json"]);
  });

  it("leaves nothing unfinished on a full disk, and what was there", async () => {
    await writeFile(path, "older");
    await symlink("/dev/full", `${path}.${process.pid}.tmp`);
    await expect(saveTuning(path, result, machine, savedAt)).rejects.toThrow("ENOSPC");
    expect(await readdir(folder)).toEqual(["tuning.json"]);
    expect(await readFile(path, "utf8")).toBe("older");
  });

  it("says where it can't be written", async () => {
    await expect(saveTuning(join(folder, "none", "tuning.json"), result, machine, savedAt)).rejects.toThrow(TuningFileError);
  });

  it.each([5, null, undefined, {}, "", "a\0b"])("is not %j", async (nothing) => {
    const refused = expect.objectContaining({ code: "INVALID_ARGUMENT", facts: expect.objectContaining({ argument: "path" }) });
    await expect(saveTuning(nothing as never, result, machine, savedAt)).rejects.toEqual(refused);
    await expect(loadTuning(nothing as never, machine)).rejects.toEqual(refused);
  });

  it("keeps a fit without an optimum", async () => {
    await saveTuning(path, { ...result, fit: { ...result.fit, optimum: undefined } }, machine, savedAt);
    expect(await loadTuning(path, machine)).toMatchObject({ ok: true, tuning: { fit: { optimum: undefined } } });
  });

  it("that is missing, or of another machine, is a value", async () => {
    expect(await loadTuning(path, machine)).toEqual({ ok: false, reason: "missing" });
    await saveTuning(path, result, machine, savedAt);
    expect(await loadTuning(path, { ...machine, cores: 4 })).toEqual({ ok: false, reason: "other-machine", machine });
    expect(await loadTuning(path, { ...machine, gpu: "none" })).toMatchObject({ reason: "other-machine" });
  });

  const spoiled: [problem: string, spoil: (text: string) => string][] = [
    ["it isn't JSON", (text) => text.slice(0, -20)],
    ["it holds no object", () => "[]"],
    ["its schema version is 2, not 1", (text) => text.replace('"schemaVersion": 1', '"schemaVersion": 2')],
    ["its schema version is undefined", () => "{}"],
    ["its schema version is an object", () => '{"schemaVersion": {"toString": 1}}'],
    ["machine isn't", (text) => text.replace('"cores": 2', '"cores": null')],
    ["savedAt isn't", (text) => text.replace('"savedAt"', '"saved"')],
    ["gain isn't", (text) => text.replace('"gain"', '"loss"')],
    ["best isn't", (text) => text.replace('"idleVisits"', '"idle"')],
    ["best isn't", (text) => text.replace('"initialThreshold": ', '"initialThreshold": 0.5')],
    ["curve isn't", (text) => text.replace('"spread"', '"width"')],
    ["fit isn't", (text) => text.replace('"relativeError"', '"error"')],
    ["fit isn't", (text) => text.replace('"optimum": ', '"optimum": "", "x": ')],
  ];
  it.each(spoiled)("is refused with a typed error: %s", async (problem, spoil) => {
    await saveTuning(path, result, machine, savedAt);
    await writeFile(path, spoil(await readFile(path, "utf8")));
    const error: unknown = await loadTuning(path, machine).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TuningFileError);
    expect(error).toMatchObject({ code: "TUNING_FILE", facts: { path, problem: expect.stringContaining(problem) } });
  });

  it("that might never end is refused", async () => {
    await expect(loadTuning("/dev/zero", machine)).rejects.toMatchObject({ code: "TUNING_FILE", facts: { path: "/dev/zero" } });
  });

  it("that can't be read is refused with the cause", async () => {
    await expect(loadTuning(folder, machine)).rejects.toMatchObject({ code: "TUNING_FILE", cause: { code: "EISDIR" } });
  });
});
