import {
  type CollectiveName,
  exitCodes,
  PerfError,
  type PerfRun,
  parseArguments,
  readEnvironment,
  runTest,
  usage,
} from "@dfccl/collective-tests";
import { DfcclError } from "@dfccl/primitives";
import { endOnBrokenPipe } from "../terminal/broken-pipe.js";
import { err } from "../terminal/colors.js";
import { watchForInterruption } from "../terminal/interruption.js";
import { type Progress, startProgress } from "../terminal/progress.js";
import { say } from "../terminal/say.js";
import { wrapOnTerminal } from "../terminal/wrap.js";
import { perfBackends } from "./backends.js";
import { nativePrograms } from "./find-programs.js";

/** Variables that say how such a program ran. Others are the user's own business. */
const toldVariables = /^(NCCL|DFCCL|OMPI|CUDA|SLURM)_/;

/**
 * One of nccl-tests' programs.
 * @param args - without the program's name.
 * @returns the exit code.
 */
export async function perfMain(collective: CollectiveName, args: readonly string[]): Promise<number> {
  const program = `${collective}_perf`;
  using interruption = watchForInterruption();
  const { signal } = interruption;
  using progress = progressOfRows(program);
  try {
    const parsed = parseArguments(args, collective);
    if (parsed.kind === "help") {
      process.stdout.write(usage(program));
      return exitCodes.ok;
    }
    const run: PerfRun = { collective, options: parsed.options, args: [program, ...args] };
    const environment = readEnvironment(process.env);
    return await runTest(run, {
      backends: perfBackends(nativePrograms, { firstDevice: environment.firstDevice }),
      environment,
      environmentLines: Object.entries(process.env).flatMap(([name, value]) => (toldVariables.test(name) ? [`${name}=${value}`] : [])),
      print: say,
      onProgress: progress.onProgress,
      signal,
    });
  } catch (error) {
    progress[Symbol.dispose]();
    if (signal.aborted) {
      process.stderr.write("Interrupted: what was measured until then, if anything, stands above.\n");
      return interruption.exitCode() ?? 1;
    }
    if (!(error instanceof DfcclError)) throw error;
    const isUsage = error instanceof PerfError && error.code === "BAD_ARGUMENT";
    process.stderr.write(`${err.red(wrapOnTerminal(`${program}: ${error.message}`))}\n`);
    if (isUsage) process.stderr.write(`(${program} -h lists all options)\n`);
    return error instanceof PerfError ? error.exitCode : exitCodes.internal;
  }
}

/** Rows that go to a terminal show by themselves how far it is; those that go elsewhere have a bar instead, where somebody may look. */
function progressOfRows(title: string): Disposable & { readonly onProgress: (done: number, total: number) => void } {
  const isShown = process.stderr.isTTY && !process.stdout.isTTY;
  let progress: Progress | undefined;
  return {
    onProgress: (done, total) => {
      if (!isShown || total === 0) return;
      progress ??= startProgress(title, total);
      progress.update(done);
    },
    [Symbol.dispose]: () => {
      progress?.stop();
      progress = undefined;
    },
  };
}

/** What the executables of that name are. */
export async function runAsProgram(collective: CollectiveName): Promise<void> {
  endOnBrokenPipe();
  process.exitCode = await perfMain(collective, process.argv.slice(2));
}
