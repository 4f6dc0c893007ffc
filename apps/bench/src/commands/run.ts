import type { Backend } from "@dfccl/core";
import { byteSizeOf, leastCommonMultiple, verifyProgram } from "@dfccl/primitives";
import { type Command, Option } from "commander";
import { loadProgram } from "../programs/load-program.js";
import { runOnEngine } from "../programs/run-on-engine.js";
import { out } from "../terminal/colors.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { withTerminalProgress } from "../terminal/progress.js";
import { say } from "../terminal/say.js";
import { formatBytes, formatCountOf } from "../terminal/table.js";
import { byteSize, wholeNumber } from "./options.js";
import { addProgramChoices, type LoadFlags, programFile } from "./program-options.js";

interface RunFlags extends LoadFlags {
  readonly n?: string;
  readonly bytes: number;
  readonly iterations: number;
  readonly copies: number;
  readonly seed: number;
  readonly backend: Backend;
}

export function addRunCommand(program: Command): void {
  addProgramChoices(program.command("run").argument("<programs...>", programFile))
    .summary("run programs on the engine and check every bit; with -n, start a program once a rank")
    .description(
      "Runs programs on the engine, all ranks in this process, and compares every output with what its collective promises. Several copies " +
        "of each are registered at once; each rank submits them in random orders of its own, with device synchronizations between.\n\n" +
        "With -n before everything else it is dfccl launch: it starts any program once a rank, one process each.",
    )
    .option("-b, --bytes <n>", "size of a segment of float32, such as 4K or 1M, rounded up to whole chunks of all", byteSize, 1 << 16)
    .option("-n <ranks>", "first: start a program once a rank, as dfccl launch does, with its options")
    .option("--iterations <n>", "how often", wholeNumber(1, 1_000_000), 10)
    .option("--copies <n>", "how many collectives of each are in flight at once", wholeNumber(1, 64), 4)
    .option("--seed <n>", "seed of the orders", wholeNumber(0, 2 ** 31 - 1), 1)
    .addOption(new Option("--backend <name>", "cpu, or cuda (NVIDIA GPUs)").choices(["cpu", "cuda"]).default("cpu"))
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl run -n 8 node train.js --epochs 3
  $ dfccl run ring.ts
  $ dfccl run ring.ts --bytes 4M --iterations 100 --copies 8
  $ dfccl run ring-all-reduce:ll all-pairs-one-shot-all-reduce:ll:direct --ranks 2 --backend cuda

${exitCodesText({ 0: "every bit is right", 1: "refused, or a result was wrong; with -n, a process failed", 2: "usage, or no program in the file" })}`,
    )
    .action(async (files: string[], flags: RunFlags, command: Command) => {
      if (flags.n !== undefined) command.error(`Write -n before everything else: dfccl run -n ${flags.n} ${files.join(" ")}`);
      process.exitCode = await run(files, flags);
    });
}

async function run(files: readonly string[], flags: RunFlags): Promise<number> {
  const programs = await Promise.all(files.map((file) => loadProgram(file, flags)));
  for (const { program, compiled, postcondition } of programs) {
    verifyProgram(program, compiled && program.collective === "custom" ? { postcondition } : {});
  }
  const chunks = programs.reduce((all, { program }) => leastCommonMultiple(all, program.chunksPerSegment), 1);
  const count = Math.ceil(flags.bytes / byteSizeOf("float32") / chunks) * chunks;
  const { iterations, seed, backend } = flags;
  const began = performance.now();
  const places = [false, true]
    .map((inPlace) => ({ inPlace, able: programs.filter(({ program }) => (inPlace ? program.inPlace : program.outOfPlace)) }))
    .filter(({ able }) => able.length > 0);
  const { difference, runs } = await withTerminalProgress("Running", places.length * iterations, async (progress) => {
    let [runs, done] = [0, 0];
    for (const { inPlace, able } of places) {
      const copies = able.flatMap((one) => Array.from({ length: flags.copies }, () => one));
      const onIteration = (): void => {
        progress.update(done);
        done += 1;
      };
      const [difference] = await runOnEngine(copies, { count, inPlace, iterations, synchronize: true, seed, backend, onIteration });
      if (difference !== undefined) return { difference, runs };
      runs += iterations * copies.length;
    }
    return { difference: undefined, runs };
  });
  if (difference !== undefined) {
    const { program, rank, element, got, expected } = difference;
    say(`${out.red("Wrong")}: ${program}, rank ${rank}, element ${element} is ${got} and should be ${expected}.`);
    return 1;
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(2);
  const ranks = formatCountOf(Math.max(...programs.map(({ program }) => program.ranks.length)), "rank");
  say(
    `${out.green("Right to the bit")}: ${programs.map(({ name }) => name).join(", ")}, ${formatCountOf(runs, "run")} of ` +
      `${formatBytes(4 * count)} a segment on ${ranks}${backend === "cuda" ? " on GPUs" : ""}, in random orders, in ${seconds} s.`,
  );
  return 0;
}
