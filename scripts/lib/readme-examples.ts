// Runs the examples of a package's README as tests: what they print must be what the README says they print.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { exampleFolder } from "./example-folder.js";

interface Example {
  readonly index: number;
  readonly code: string;
  readonly promised: readonly string[];
  /** Only the first lines are shown: what follows is a drawing, say. */
  readonly isBeginning: boolean;
}

/** Blocks of code with the text block that follows, or with the comment lines that they end in. */
function examplesOf(readme: string): Example[] {
  const blocks = [...readme.matchAll(/```(?:ts|js)\n(.*?)```(?:\n+(?:It prints\n+)?```text\n(.*?)```)?/gs)];
  return blocks.map(([, code = "", text], index) => {
    const promised = text?.trimEnd().split("\n") ?? commentsAtTheEnd(code);
    return { index, code, promised, isBeginning: text === undefined };
  });
}

function commentsAtTheEnd(code: string): string[] {
  const lines = code.trimEnd().split("\n");
  const first = lines.findLastIndex((line) => !line.startsWith("// ")) + 1;
  return lines.slice(first).map((line) => line.slice("// ".length));
}

/** @param packageRoot - folder URL of the package, with its slash. Its vitest config must lead its own name to its sources. */
export function testReadmeExamples(packageRoot: URL): void {
  const examples = examplesOf(readFileSync(new URL("README.md", packageRoot), "utf8"));

  describe("the README's examples", () => {
    const folder = exampleFolder(packageRoot);

    it("are there", () => {
      expect(examples.length).toBeGreaterThan(0);
    });

    it.each(examples)("print what they say: example $index", async ({ index, code, promised, isBeginning }) => {
      expect(promised.length).toBeGreaterThan(0);
      const file = join(folder, `example-${index}.ts`);
      writeFileSync(file, code);
      const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
      try {
        await import(/* @vite-ignore */ pathToFileURL(file).href);
        const printed = log.mock.calls.map((values) => values.map((v) => (typeof v === "string" ? v : inspect(v))).join(" "));
        const lines = printed.join("\n").trimEnd().split("\n");
        expect(isBeginning ? lines.slice(0, promised.length) : lines).toEqual(promised);
      } finally {
        log.mockRestore();
      }
    });
  });
}
