import type { Command } from "commander";
import { addSimulateDeadlockCommand } from "./simulate-deadlock.js";
import { addSimulateProgramCommand } from "./simulate-program.js";
import { addSimulateScheduleCommand } from "./simulate-schedule.js";

export function addSimulateCommand(program: Command): void {
  const simulate = program
    .command("simulate")
    .summary("deadlocks, schedules and programs, at a scale that nobody here owns")
    .description("Simulates what would need more GPUs than one has.")
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl simulate deadlock --preset table1     the paper's Table 1 beside ours
  $ dfccl simulate schedule --preset late-rank   thresholds, fixed or adaptive
  $ dfccl simulate program --preset two-level    programs that know the network`,
    );
  addSimulateDeadlockCommand(simulate);
  addSimulateScheduleCommand(simulate);
  addSimulateProgramCommand(simulate);
}
