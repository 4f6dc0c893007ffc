import { byteSizeOf, verifyProgram } from "@dfccl/primitives";
import type { Command } from "commander";
import { loadProgram } from "../programs/load-program.js";
import { runOnEngine } from "../programs/run-on-engine.js";
import { out } from "../terminal/colors.js";
import { formatBytes, formatCountOf } from "../terminal/table.js";
import { byteSize, wholeNumber } from "./options.js";
import { addLoadOptions, type LoadFlags } from "./program-options.js";

interface RunFlags extends LoadFlags {
  readonly bytes: number;
  readonly iterations: number;
  readonly copies: number;
  readonly seed: number;
}

export function addRunCommand(program: Command): void {
  addLoadOptions(program.command("run"))
    .summary("run a program on the engine and check every bit")
    .description(
      "Runs a program on the engine, all ranks in this process, and compares every output with what its collective promises. Several copies " +
        "are registered; each rank submits them in random orders of its own, with device synchronizations between.",
    )
    .option("-b, --bytes <n>", "size of a segment of float32, such as 4K or 1M, rounded up to whole chunks", byteSize, 1 << 16)
    .option("-n, --iterations <n>", "how often", wholeNumber(1, 1_000_000), 10)
    .option("--copies <n>", "how many collectives of it are in flight at once", wholeNumber(1, 64), 4)
    .option("--seed <n>", "seed of the orders", wholeNumber(0, 2 ** 31 - 1), 1)
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl run ring.ts
  $ dfccl run ring.ts --bytes 4M --iterations 100 --copies 8

Exit codes:
  0  every bit is right
  1  refused, or a result was wrong
  2  usage, or no program in the file`,
    )
    .action(async (file: string, flags: RunFlags) => {
      process.exitCode = await run(file, flags);
    });
}

async function run(file: string, flags: RunFlags): Promise<number> {
  const loaded = await loadProgram(file, flags);
  const { name, program, postcondition } = loaded;
  verifyProgram(program, loaded.compiled && program.collective === "custom" ? { postcondition } : {});
  const { chunksPerSegment } = program;
  const count = Math.ceil(flags.bytes / byteSizeOf("float32") / chunksPerSegment) * chunksPerSegment;
  const copies = Array.from({ length: flags.copies }, () => loaded);
  const began = performance.now();
  let runs = 0;
  for (const inPlace of [false, true]) {
    if (!(inPlace ? program.inPlace : program.outOfPlace)) continue;
    const [difference] = await runOnEngine(copies, { count, inPlace, iterations: flags.iterations, synchronize: true, seed: flags.seed });
    if (difference !== undefined) {
      const { rank, element, got, expected } = difference;
      process.stdout.write(`${out.red("Wrong")}: ${name}, rank ${rank}, element ${element} is ${got} and should be ${expected}.\n`);
      return 1;
    }
    runs += flags.iterations * flags.copies;
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(2);
  process.stdout.write(
    `${out.green("Right to the bit")}: ${name}, ${formatCountOf(runs, "run")} of ${formatBytes(4 * count)} a segment on ` +
      `${formatCountOf(program.ranks.length, "rank")}, in random orders, in ${seconds} s.\n`,
  );
  return 0;
}
