// docs/nccl.md says of every function what the library does with it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/paths.mjs";
import { ncclTable } from "../nccl-table.mjs";

const page = "docs/nccl.md";

export function ncclFunctions() {
  if (readFileSync(join(root, page), "utf8").includes(ncclTable())) return { passed: 1 };
  return {
    failed: 1,
    details: `${page} has another table than cuda/nccl_api/symbols.txt: copy the output of \`node scripts/nccl-table.mjs\``,
  };
}
