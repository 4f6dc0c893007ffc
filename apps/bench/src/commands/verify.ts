import type { Command } from "commander";
import { loadProven } from "../programs/load-proven.js";
import { out } from "../terminal/colors.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { say } from "../terminal/say.js";
import { withStages } from "../terminal/stages.js";
import { formatCountOf } from "../terminal/table.js";
import { addLoadOptions, type LoadFlags } from "./program-options.js";

export function addVerifyCommand(program: Command): void {
  addLoadOptions(program.command("verify"))
    .summary("prove a program or an MSCCL file, or say why it is refused")
    .description(
      "Proves that a program ends with the right result, whatever the timing: no cycle of waits, no race, enough slots, every output as " +
        "promised. MSCCL files are proven with the slots of MSCCL's own runtime.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl verify ring.ts
  $ dfccl verify allreduce.xml

${exitCodesText({ 0: "verified", 1: "refused: the message has the counterexample", 2: "usage, or no program in the file" })}`,
    )
    .action(async (file: string, flags: LoadFlags) => {
      const { loaded, report } = await withStages((begin) => loadProven(file, flags, begin));
      const { name, program, compiled } = loaded;
      const nothing =
        program.collective === "custom" && !compiled ? " A custom collective from a file promises nothing about its outputs." : "";
      say(
        `${out.green("Verified")}: ${name}, ${formatCountOf(report.steps, "step")} on ${formatCountOf(program.ranks.length, "rank")}.${nothing}`,
      );
    });
}
