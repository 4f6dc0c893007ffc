import { type VerificationReport, verifyProgram } from "@dfccl/primitives";
import type { BeginStage } from "../terminal/stages.js";
import { formatCountOf } from "../terminal/table.js";
import { type LoadedProgram, type LoadOptions, loadProgram } from "./load-program.js";
import { inFile } from "./program-file-error.js";

export interface ProvenProgram {
  readonly loaded: LoadedProgram;
  readonly report: VerificationReport;
}

/** Loads a program with its proof, which what is compiled brings along. @throws as {@link loadProgram} does, and for what is refused. */
export async function loadProven(file: string, options: LoadOptions, begin: BeginStage): Promise<ProvenProgram> {
  const loaded = await loadProgram(file, options, begin);
  const { program, compiled } = loaded;
  if (compiled !== undefined) return { loaded, report: compiled.report };
  const steps = program.ranks.reduce((sum, { blocks }) => sum + blocks.reduce((all, block) => all + block.steps.length, 0), 0);
  begin(`Proving ${file}: ${formatCountOf(steps, "step")} on ${formatCountOf(program.ranks.length, "rank")}`);
  return { loaded, report: inFile(file, () => verifyProgram(program)) };
}
