// pnpm --filter @dfccl/core bench [--json]: what the JavaScript side of a run costs.
import { cpus } from "node:os";
import { queueRoleRows } from "./queue-roles.bench.js";
import { submissionRows } from "./submission.bench.js";

const rows = [...(await submissionRows()), ...(await queueRoleRows())];
if (process.argv.includes("--json")) {
  console.log(JSON.stringify({ node: process.versions.node, cpu: cpus()[0]?.model, cores: cpus().length, unit: "million a second", rows }));
} else {
  console.table(Object.fromEntries(rows.map(({ what, median, best }) => [what, { median: round(median), best: round(best) }])));
  console.log(`Millions a second, Node ${process.versions.node}, ${cpus().length} cores of ${cpus()[0]?.model}.`);
}

function round(rate: number): number {
  return Number(rate.toPrecision(3));
}
