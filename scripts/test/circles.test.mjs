// A circle of imports is an error of the runner "arrows", of types alone too, and its files are named.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../lib/paths.mjs";

/** @param files name → text. @returns what dependency-cruiser says of them, by the project's rules. */
function cruise(files) {
  const folder = mkdtempSync(join(tmpdir(), "dfccl-circles-"));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const command = ["depcruise", "--config", ".dependency-cruiser.mjs", "--output-type", "err-long", folder];
    const { status, stdout } = spawnSync("npx", command, { cwd: root, encoding: "utf8" });
    return { status, stdout };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const back = 'import type { First } from "./first.js";\nexport type Second = First[];\n';

it("two files that need types of each other are refused by name", () => {
  const { status, stdout } = cruise({
    "first.ts": 'import type { Second } from "./second.js";\nexport interface First { readonly all: Second }\n',
    "second.ts": back,
  });
  expect(status).not.toBe(0);
  expect(stdout).toMatch(/no-cycles/);
  expect(stdout).toMatch(/first\.ts/);
  expect(stdout).toMatch(/second\.ts/);
});

it("control: one way only is fine", () => {
  const { status, stdout } = cruise({ "first.ts": "export interface First { readonly all: number }\n", "second.ts": back });
  expect(status, stdout).toBe(0);
});
