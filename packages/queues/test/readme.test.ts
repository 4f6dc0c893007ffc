import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";

it("the example in the README runs and prints what it says", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const snippet = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  const folder = fileURLToPath(new URL("../.cache/", import.meta.url));
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}readme-example.ts`, snippet.replace('"@dfccl/queues"', '"../src/index.js"'));
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  await import(`${folder}readme-example.ts`);
  expect(log.mock.calls).toEqual([[{ id: 7, status: 1, run: 1 }]]);
  log.mockRestore();
});
