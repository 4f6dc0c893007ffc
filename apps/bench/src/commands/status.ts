import { inspectWorlds } from "@dfccl/core";
import type { Command } from "commander";
import { describeWorld, isStuck } from "../status/describe-world.js";
import { metricsOf } from "../status/metrics.js";

interface StatusFlags {
  readonly json?: boolean;
  readonly metrics?: boolean;
}

export function addStatusCommand(program: Command): void {
  program
    .command("status")
    .summary("what the worlds of processes on this machine are at, and who waits for whom")
    .description(
      "Looks at every world of processes on this machine that you may look into: its ranks, what each has in flight and for how " +
        "long, and which ranks a collective waits for. The processes need not answer, so it works on those that hang.",
    )
    .option("--json", "print one JSON array instead of text")
    .option("--metrics", "print metrics for Prometheus instead, as its node exporter's text files have them")
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl status
  $ dfccl status --metrics > /var/lib/node_exporter/dfccl.prom

Exit codes:
  0  all is well, or there is no world
  1  a rank is gone, or something has waited for more than 10 s
  2  usage`,
    )
    .action((flags: StatusFlags) => {
      process.exitCode = status(flags);
    });
}

function status({ json, metrics }: StatusFlags): number {
  const worlds = inspectWorlds();
  if (json) say(JSON.stringify(worlds));
  else if (metrics) process.stdout.write(metricsOf(worlds));
  else if (worlds.length === 0) say("No world of processes is open on this machine.");
  else say(worlds.map(describeWorld).join("\n\n"));
  return worlds.some(isStuck) ? 1 : 0;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
