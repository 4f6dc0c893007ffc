import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, it, vi } from "vitest";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const examples = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code = ""], index) => ({ index, code }));
const folder = fileURLToPath(new URL("../.cache/readme/", import.meta.url));

describe("the README's examples", () => {
  it.each(examples)("print what they say: example $index", async ({ index, code }) => {
    const promised = [...code.matchAll(/^\/\/ (.*)$/gm)].map(([, line]) => line);
    expect(promised.length).toBeGreaterThan(0);
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `example-${index}.ts`);
    writeFileSync(file, code);
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
    try {
      await import(/* @vite-ignore */ pathToFileURL(file).href);
      const printed = log.mock.calls.map((words) => words.join(" "));
      expect(printed.slice(0, promised.length)).toEqual(promised);
    } finally {
      log.mockRestore();
    }
  });
});
