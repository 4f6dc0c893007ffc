import {
  checkInteger,
  checkObject,
  checkOptions,
  checkPath,
  DfcclError,
  InvalidArgumentError,
  type OptionNames,
  readArgument,
} from "@dfccl/primitives";
import { checkSignal } from "../abort-signal.js";
import { type BackendChoice, type ChosenBackend, chooseBackend } from "../backend.js";
import { Engine } from "../engine.js";
import { callNative } from "../native-addon/native-error.js";
import { type NativeLaunch, type NativeSegment, nativeAddon } from "../native-addon/native-world.js";
import { nativeOptions } from "../native-options.js";
import { LocalWorld } from "../world.js";
import { sharedOptionNames, type WorldOptions } from "../world-options.js";
import { joinFailure } from "./join-failure.js";
import { JoinedRank } from "./joined-rank.js";

/** No launcher has told this process which rank it is, and the options don't either. */
export class NotLaunchedError extends DfcclError {
  override readonly code = "NOT_LAUNCHED";

  constructor() {
    super("This process was started by no launcher: no rank in the environment.", {
      facts: {},
      remedy:
        "Start the program with dfccl launch, mpirun, srun or torchrun; or set DFCCL_RANK, DFCCL_WORLD_SIZE and DFCCL_JOB in every process.",
    });
  }
}

/** Who this process is in its job. */
export interface Launch {
  /** "mpirun", "srun", … */
  readonly launcher: string;
  readonly rank: number;
  /** Ranks of the job. */
  readonly size: number;
  /** The job's name, the same in all its processes and in no other's of this user. */
  readonly job: string;
  /**
   * Where ranks of several machines meet: "host:port" of rank 0. Left out, all are on this machine. Every process needs the
   * job's secret too, unless the address is loopback's.
   */
  readonly address?: string;
  /** This machine's name, the same for all ranks that share its memory. Default: what the system says. */
  readonly host?: string;
}

/** The same in every process of the job, but for `rank`, `workers`, and what concerns this process's patience. */
export interface JoinOptions<Choice extends BackendChoice = BackendChoice> extends Omit<WorldOptions<Choice>, "ranks" | "streams"> {
  /** Who this process is. Default: what the launcher put in the environment. */
  readonly launch?: Omit<Launch, "launcher">;
  /** What the processes prove to one another that they are of one job; default: DFCCL_JOB_SECRET, or what is in DFCCL_JOB_SECRET_FILE. */
  readonly secret?: string;
  /** For all ranks to come; default 60,000, or DFCCL_JOIN_TIMEOUT in seconds. */
  readonly timeoutMs?: number;
  /** Another process without a sign of life for so long is given up; default 10,000, or DFCCL_SILENCE in seconds. */
  readonly silenceMs?: number;
  /**
   * Beginning of a file's name: this rank's flight record is written there, with the rank's number after it, when a run times out
   * for the first time, and on every SIGUSR2. Default: DFCCL_FLIGHT_RECORD; without it none is written.
   */
  readonly flightRecord?: string;
  /** Gives the meeting up. */
  readonly signal?: AbortSignal;
}

const optionNames: OptionNames<JoinOptions> = {
  ...sharedOptionNames,
  launch: true,
  secret: true,
  timeoutMs: true,
  silenceMs: true,
  flightRecord: true,
  signal: true,
};
const launchNames: OptionNames<Launch> = { launcher: true, rank: true, size: true, job: true, address: true, host: true };

/**
 * What a launcher tells this process: `dfccl launch` (or whoever sets DFCCL_RANK, DFCCL_WORLD_SIZE and DFCCL_JOB), mpirun, srun,
 * PMI, torchrun.
 * @returns undefined where none has started it.
 * @throws {InvalidArgumentError}; {@link EngineError} INVALID_ARGUMENT naming the variable that is missing or wrong.
 */
export function readLaunch(env: Readonly<Record<string, string | undefined>> = process.env): Launch | undefined {
  checkObject("env", env, "variables, such as process.env");
  // A copy: what a getter or a proxy throws would come out of the engine.
  const variables = readArgument("env", "variables, such as process.env", () => ({ ...env }));
  const named: NativeLaunch | null = callNative(() => nativeAddon().readLaunch(variables));
  return named ?? undefined;
}

/**
 * Joins the other processes of a job, one rank each, on one machine or several. Every process calls it once; it waits until all
 * are there.
 * @throws {NotLaunchedError}; {@link EngineError} TIMEOUT naming the ranks that didn't come (`facts.missing`), REGISTRATION_MISMATCH naming what two
 *   ranks disagree on, IN_USE where two processes claim one rank, ABORTED by `signal`; InvalidArgumentError.
 */
export async function joinWorld<const Choice extends BackendChoice = "cpu">(
  options: JoinOptions<Choice> = {},
): Promise<JoinedRank<ChosenBackend<Choice>>> {
  checkOptions<JoinOptions>("options", options, optionNames, "an object such as { timeoutMs: 5000 }");
  const launch = options.launch ?? readLaunch();
  if (launch === undefined) throw new NotLaunchedError();
  if (options.policy === "in-order") {
    throw new InvalidArgumentError("policy", options.policy, "a preemptive one: in order, processes would deadlock");
  }
  checkOptions<Partial<Launch>>("launch", launch, launchNames, 'an object such as { rank: 0, size: 4, job: "mine" }');
  const { rank, size, job, address, host } = launch;
  for (const [name, text] of Object.entries({ job, address, host, secret: options.secret })) {
    if (typeof text !== "string" && (name === "job" || text !== undefined)) throw new InvalidArgumentError(name, text, "a text");
  }
  const { timeoutMs = secondsOf("DFCCL_JOIN_TIMEOUT", 60), silenceMs = secondsOf("DFCCL_SILENCE", 10), signal } = options;
  checkMillis("timeoutMs", timeoutMs);
  checkMillis("silenceMs", silenceMs);
  checkSignal(signal);
  if (options.flightRecord !== undefined) checkPath("flightRecord", options.flightRecord, "/tmp/flight_");
  const backend = chooseBackend(options.backend ?? "cpu");
  const native = nativeOptions({ ...options, backend, ranks: size }, address === undefined ? "machine" : "machines");
  checkInteger("rank", rank, 0, size - 1);
  const meeting = callNative(() =>
    nativeAddon().joinSegment(native.options, { job, rank, timeoutMillis: timeoutMs, address, host, secret: options.secret }),
  );
  const giveUp = (): void => meeting.cancel();
  signal?.addEventListener("abort", giveUp, { once: true });
  if (signal?.aborted) giveUp();
  let segment: NativeSegment;
  try {
    segment = await meeting.segment;
  } catch (error) {
    throw joinFailure(error, { job, rank, worldSize: size, timeoutMs });
  } finally {
    signal?.removeEventListener("abort", giveUp);
  }
  const prefix = options.flightRecord ?? process.env.DFCCL_FLIGHT_RECORD ?? "";
  const engine = new Engine(
    { ...native.options, segment, muteMillis: silenceMs },
    { inOrder: false, isJoined: true, flightRecord: prefix === "" ? undefined : { prefix, rank } },
  );
  let joined: JoinedRank<ChosenBackend<Choice>> | undefined;
  const world = new LocalWorld<ChosenBackend<Choice>>(engine, native.policy, (self) => {
    joined = new JoinedRank(self, engine, rank);
    return [joined];
  });
  return joined ?? new JoinedRank(world, engine, rank);
}

/**
 * What carries data between machines here, with its version: "UCX 1.13.1".
 * @throws {EngineError} UNAVAILABLE, whose remedy says what is missing.
 */
export function describeTransport(): string {
  return callNative(() => nativeAddon().transport());
}

function secondsOf(variable: string, byDefault: number): number {
  const text = process.env[variable];
  if (text === undefined || text === "") return 1000 * byDefault;
  const seconds = Number(text);
  if (!(seconds > 0)) throw new InvalidArgumentError(variable, text, "a number of seconds above 0");
  return Math.ceil(1000 * seconds);
}

function checkMillis(name: string, value: number): void {
  if (!Number.isInteger(value) || value < 1 || value > 2 ** 31 - 1) {
    throw new InvalidArgumentError(name, value, "whole milliseconds from 1 to 2147483647");
  }
}
