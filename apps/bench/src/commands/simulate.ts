import type { Command } from "commander";
import { addSimulateDeadlockCommand } from "./simulate-deadlock.js";

export function addSimulateCommand(program: Command): void {
  const simulate = program
    .command("simulate")
    .summary("how likely deadlock is, at a scale that nobody here owns")
    .description("Simulates what would need more GPUs than one has.")
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl simulate deadlock --preset table1    the paper's Table 1 beside ours`,
    );
  addSimulateDeadlockCommand(simulate);
}
