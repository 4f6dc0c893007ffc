// The table of docs/nccl.md: what libnccl.so.2 does with each of NCCL's functions (`node scripts/nccl-table.mjs`).
// scripts/checks/nccl-table.mjs sees to it that the page has it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./lib/paths.mjs";

const list = "cuda/nccl_api/symbols.txt";

/** Of each function: its name, whether it is real, and what is said of it. */
function functions() {
  const lines = readFileSync(join(root, list), "utf8").split("\n");
  return lines
    .filter((line) => line.startsWith("nccl"))
    .map((line) => {
      const [name, , , what] = line.split("|").map((part) => part.trim());
      const [, state, note = ""] = /^(real|refused)(?:: (.*))?$/.exec(what) ?? [];
      if (state === undefined) throw new Error(`${list}: can't be read: ${line}`);
      return { name, isReal: state === "real", note };
    });
}

/** Real ones a line each; refused ones together by their reason. */
export function ncclTable() {
  const all = functions();
  const real = all.filter(({ isReal }) => isReal).map(({ name, note }) => `| \`${name}\` | real | ${note} |`);
  const reasons = new Map();
  for (const { name, note } of all.filter(({ isReal }) => !isReal)) reasons.set(note, [...(reasons.get(note) ?? []), `\`${name}\``]);
  const refused = [...reasons].map(([note, names]) => `| ${names.join(" ")} | refused | ${note} |`);
  return ["| Function | | |", "| --- | --- | --- |", ...real, ...refused].join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) console.log(ncclTable());
