import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, vi } from "vitest";
import { exampleFolder } from "../../../scripts/lib/example-folder.js";

const folder = exampleFolder(new URL("..", import.meta.url));

it("prints what the README says", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const [, code = ""] = /```ts\n(.*?)```/s.exec(readme) ?? [];
  const [, promised = ""] = /```text\n(.*?)```/s.exec(readme) ?? [];
  const file = join(folder, "example.ts");
  writeFileSync(file, code);
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  try {
    await import(/* @vite-ignore */ pathToFileURL(file).href);
    const printed = `${log.mock.calls.map((words) => words.join(" ")).join("\n")}\n`;
    expect(promised.length).toBeGreaterThan(100);
    expect(printed.slice(-promised.length)).toBe(promised);
  } finally {
    log.mockRestore();
  }
});
