import { randomUUID } from "node:crypto";
import { killMs } from "./ending-times.js";
import { type RemoteOptions, remoteCommands } from "./hosts.js";
import { endMarkedProcesses } from "./marked-processes.js";
import { relaySignals } from "./relay-signals.js";
import { type RunningRanks, runRanks } from "./run-ranks.js";
import { watchLaunch } from "./watcher.js";

export interface LaunchOptions {
  readonly ranks: number;
  readonly job: string;
  readonly keepGoing?: boolean;
  readonly prefix?: boolean;
  /** How often all ranks are started anew after one has failed. */
  readonly restarts?: number;
  /** Other machines to start ranks on. */
  readonly remote?: RemoteOptions | undefined;
}

/**
 * Starts a program once a rank and waits for all. When one fails, the others are ended, and all started anew where that was asked
 * for. Signals that would end this process end them; so does the end of this process, whatever ends it.
 * @returns the exit code: 0 where every process ended with it; 128 and its number after a signal.
 */
export async function launchProcesses(name: string, args: readonly string[], options: LaunchOptions): Promise<number> {
  const { restarts = 0, remote: machines, ...world } = options;
  const remote = machines === undefined ? {} : { remote: remoteCommands(machines) };
  const [command, ...first] = name === "dfccl" ? [process.execPath, process.argv[1] ?? "dfccl"] : [name];
  const mark = randomUUID();
  // A pipe each for 1,024 ranks.
  if (world.prefix) for (const stream of [process.stdout, process.stderr]) stream.setMaxListeners(0);
  let running: RunningRanks | undefined;
  using _ = watchLaunch(mark);
  using signals = relaySignals((signal) => running?.end(signal));
  for (let restart = 0; ; restart += 1) {
    running = runRanks(command ?? name, [...first, ...args], { ...world, ...remote, mark, restart });
    const outcome = await running.ended;
    if (outcome === "completed" && signals.exitCode() === undefined) return 0;
    // What a rank has started may have outlived it, and would be in the way of the next one.
    if (!world.keepGoing) await endMarkedProcesses(mark, { graceMs: killMs });
    const interrupted = signals.exitCode();
    if (interrupted !== undefined) return interrupted;
    if (outcome === "not started" || restart === restarts) return 1;
    process.stderr.write(`Starting all ranks again: restart ${restart + 1} of ${restarts}.\n`);
  }
}
