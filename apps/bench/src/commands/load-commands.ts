import type { Command } from "commander";

/** The commands, in the order in which help lists them. Each is loaded when it is added, with all that it imports. */
const loaders = {
  disorder: async () => (await import("./disorder.js")).addDisorderCommand,
  launch: async () => (await import("./launch.js")).addLaunchCommand,
  "run-nccl": async () => (await import("./run-nccl.js")).addRunNcclCommand,
  status: async () => (await import("./status.js")).addStatusCommand,
  compile: async () => (await import("./compile.js")).addCompileCommand,
  verify: async () => (await import("./verify.js")).addVerifyCommand,
  draw: async () => (await import("./draw.js")).addDrawCommand,
  run: async () => (await import("./run.js")).addRunCommand,
  train: async () => (await import("./train.js")).addTrainCommand,
  tune: async () => (await import("./tune.js")).addTuneCommand,
  bench: async () => (await import("./bench.js")).addBenchCommand,
  perf: async () => (await import("./perf.js")).addPerfCommand,
  compare: async () => (await import("./compare.js")).addCompareCommand,
  report: async () => (await import("./report.js")).addReportCommand,
  stickiness: async () => (await import("./stickiness.js")).addStickinessCommand,
  simulate: async () => (await import("./simulate.js")).addSimulateCommand,
  boxing: async () => (await import("./boxing.js")).addBoxingCommand,
  pipeline: async () => (await import("./pipeline.js")).addPipelineCommand,
  doctor: async () => (await import("./doctor.js")).addDoctorCommand,
  completion: async () => (await import("./completion.js")).addCompletionCommand,
} satisfies Record<string, () => Promise<(program: Command) => void>>;

export type CommandName = keyof typeof loaders;

export const commandNames = Object.keys(loaders) as readonly CommandName[];

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(loaders, name);
}

/** Adds these commands, in the order of the table above. */
export async function addCommands(program: Command, names: readonly CommandName[]): Promise<void> {
  const adders = await Promise.all(commandNames.filter((name) => names.includes(name)).map((name) => loaders[name]()));
  for (const add of adders) add(program);
}
