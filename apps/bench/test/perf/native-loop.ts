import { type CollectiveName, parseArguments, readEnvironment, runTest } from "@dfccl/collective-tests";
import { perfBackends } from "../../src/perf/backends.js";
import { nativePrograms } from "../../src/perf/find-programs.js";

export interface Outcome {
  readonly code: number;
  readonly lines: readonly string[];
}

/** Runs a program of the collective tests on the real backends, in this process but for the native loop. */
export async function perf(collective: CollectiveName, args: readonly string[]): Promise<Outcome> {
  const parsed = parseArguments(args);
  if (parsed.kind !== "run") throw new Error("help");
  const lines: string[] = [];
  const code = await runTest(
    { collective, options: parsed.options, args },
    {
      backends: perfBackends(nativePrograms),
      environment: readEnvironment({}),
      environmentLines: [],
      print: (line) => lines.push(line),
    },
  );
  return { code, lines };
}

/** The rows of a text, cell by cell. */
export function cellsOf({ lines }: Outcome): string[][] {
  return lines.filter((line) => /^ +\d/.test(line)).map((line) => line.trim().split(/\s+/));
}
