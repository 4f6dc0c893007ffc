import { once } from "node:events";
import { inspectWorlds } from "@dfccl/core";
import { type Command, InvalidArgumentError, Option } from "commander";
import { describeWorld, isStuck } from "../status/describe-world.js";
import { metricsOf } from "../status/metrics.js";
import { serveMetrics } from "../status/serve-metrics.js";
import { writeFlightRecords } from "../status/write-flight-records.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { watchForInterruption } from "../terminal/interruption.js";
import { say } from "../terminal/say.js";
import { outputFolder } from "./options.js";

interface Place {
  readonly host: string;
  readonly port: number;
}

interface StatusFlags {
  readonly json?: boolean;
  readonly metrics?: boolean;
  readonly listen?: Place;
  readonly flightRecord?: string;
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
    .addOption(
      new Option("--metrics", "print metrics for Prometheus instead, as its node exporter's text files have them").conflicts("json"),
    )
    .addOption(
      new Option(
        "--listen <[host:]port>",
        "serve them at http://HOST:PORT/metrics until interrupted; to this machine only unless a host is named",
      )
        .argParser(place)
        .conflicts(["json", "metrics", "flightRecord"]),
    )
    .addOption(
      new Option("--flight-record <folder>", "write what each rank has in flight to FOLDER/JOB/rank_N, as PyTorch's flight recorder does")
        .argParser(outputFolder)
        .conflicts(["json", "metrics"]),
    )
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl status
  $ dfccl status --metrics > /var/lib/node_exporter/dfccl.prom
  $ dfccl status --listen 9464
  $ dfccl status --flight-record records

${exitCodesText({ 0: "all is well, or there is no world", 1: "a rank is gone, or something has waited for more than 10 s", 2: "usage" }, "while it served metrics")}`,
    )
    .action(async (flags: StatusFlags) => {
      process.exitCode = flags.listen === undefined ? status(flags) : await listen(flags.listen);
    });
}

function place(text: string): Place {
  const [, host = "127.0.0.1", digits = ""] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === "" || port > 65_535)
    throw new InvalidArgumentError("It must be a port, or an address and a port, such as 9464 or 10.0.0.1:9464.");
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port };
}

async function listen({ host, port }: Place): Promise<number> {
  using interruption = watchForInterruption();
  await using server = await serveMetrics(inspectWorlds, host, port);
  say(`Serving ${server.url}`);
  if (!interruption.signal.aborted) await once(interruption.signal, "abort");
  return interruption.exitCode() ?? 0;
}

function status({ json, metrics, flightRecord }: StatusFlags): number {
  const worlds = inspectWorlds();
  if (json) say(JSON.stringify(worlds));
  else if (metrics) process.stdout.write(metricsOf(worlds));
  else if (worlds.length === 0) say("No world of processes is open on this machine.");
  else if (flightRecord !== undefined) for (const folder of writeFlightRecords(worlds, flightRecord)) say(`Wrote ${folder}`);
  else say(worlds.map(describeWorld).join("\n\n"));
  return worlds.some(isStuck) ? 1 : 0;
}
