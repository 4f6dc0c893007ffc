import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { lateStages } from "../../src/terminal/late-stages.js";
import { withStages } from "../../src/terminal/stages.js";

describe("stages", () => {
  it("are said from when the time has passed: the one that the work is at, and each that begins then", () => {
    const said: string[] = [];
    let pass = (): void => undefined;
    const begin = lateStages(
      (line) => said.push(line),
      (passed) => {
        pass = passed;
      },
    );
    begin("Reading");
    begin("Compiling");
    expect(said).toEqual([]);
    pass();
    expect(said).toEqual(["Compiling …\n"]);
    begin("Proving");
    expect(said).toEqual(["Compiling …\n", "Proving …\n"]);
  });

  it("are said on a terminal at once, and taken back", async () => {
    const written: string[] = [];
    const stream = { isTTY: true, fd: -1, write: (text: string) => written.push(text) };
    const result = await withStages(
      async (begin) => {
        begin("Compiling");
        begin("Proving");
        return 3;
      },
      { stream },
    );
    expect(result).toBe(3);
    const clear = "\r\u001b[2K";
    expect(written).toEqual([`${clear}Compiling …`, `${clear}Proving …`, clear]);
  });

  it("are said while the work computes without a pause", async () => {
    const folder = mkdtempSync(join(tmpdir(), "dfccl-stages-"));
    const file = join(folder, "said");
    const fd = openSync(file, "w");
    try {
      const thread = fileURLToPath(new URL("../../dist/stages-thread.js", import.meta.url));
      const stream = { fd, write: () => undefined };
      const said = await withStages(
        async (begin) => {
          begin("Proving");
          // Nothing else runs in this thread until then; where nothing is ever said, this ends, too.
          const giveUp = performance.now() + 30_000;
          while (readFileSync(file, "utf8") === "" && performance.now() < giveUp);
          return readFileSync(file, "utf8");
        },
        { stream, afterMs: 0, thread },
      );
      expect(said).toBe("Proving …\n");
    } finally {
      closeSync(fd);
      rmSync(folder, { recursive: true });
    }
  });
});
