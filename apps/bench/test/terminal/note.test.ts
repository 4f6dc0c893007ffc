import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { withTerminalNote } from "../../src/terminal/note.js";

it.each([
  ["says on a terminal what takes a while, and takes it back", true, "Proving … \u001b"],
  ["says nothing in a pipe", false, ""],
])("%s", async (_, isTTY, expected) => {
  const stream = Object.assign(new PassThrough(), { isTTY }) as unknown as NodeJS.WriteStream;
  expect(await withTerminalNote("Proving", async () => 3, stream)).toBe(3);
  const said = String((stream as unknown as PassThrough).read() ?? "");
  expect(said.replace("\r", " ").replace("[2K", "")).toBe(expected);
});
