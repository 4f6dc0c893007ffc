import { checkInteger, checkNumber, checkObject, readArgument } from "@dfccl/primitives";
import { callNative } from "../native-addon/native-error.js";
import { nativeAddon } from "../native-addon/native-world.js";
import type { WorldStatus } from "./inspect-worlds.js";

/** One run of a collective, as one rank has it. */
interface Entry {
  readonly frames: readonly never[];
  readonly record_id: number;
  readonly pg_id: number;
  readonly process_group: readonly [name: string, description: string];
  readonly collective_seq_id: number;
  readonly p2p_seq_id: number;
  readonly op_id: number;
  readonly profiling_name: string;
  readonly time_created_ns: number | null;
  readonly input_sizes: readonly (readonly number[])[];
  readonly input_dtypes: readonly string[];
  readonly output_sizes: readonly (readonly number[])[];
  readonly output_dtypes: readonly string[];
  readonly state: "scheduled" | "started" | "completed";
  readonly time_discovered_started_ns: null;
  readonly time_discovered_completed_ns: null;
  readonly retired: boolean;
  readonly timeout_ms: null;
  readonly is_p2p: boolean;
  /** Not PyTorch's, which reads past it: members that haven't submitted this run. */
  readonly missing_ranks: readonly number[];
}

/** What PyTorch's analyzer of flight recorders reads of one rank: version 2.10 of its dump. */
export interface FlightRecord {
  readonly version: "2.10";
  readonly pg_config: Readonly<Record<string, { readonly name: string; readonly desc: string; readonly ranks: string }>>;
  readonly pg_status: Readonly<
    Record<
      string,
      { readonly last_enqueued_collective: number; readonly last_started_collective: number; readonly last_completed_collective: number }
    >
  >;
  readonly entries: readonly Entry[];
}

/**
 * The runs of one rank of a world, as PyTorch's flight recorder dumps them. There, all ranks of a group must issue the same
 * sequence; here that holds of each collective's runs alone, so each collective is a group, and its runs are the sequence.
 * @param now - nanoseconds since 1970; to the millisecond.
 * @throws {InvalidArgumentError}; {EngineError} INVALID_ARGUMENT where the world is none of this version.
 * @see https://docs.pytorch.org/tutorials/prototype/flight_recorder_tutorial.html
 */
export function flightRecordOf(world: WorldStatus, rank: number, now: number = Date.now() * 1e6): FlightRecord {
  const expected = "a world such as inspectWorlds() gives";
  checkObject("world", world, expected);
  checkInteger("rank", rank, 0, 0xffff_ffff);
  checkNumber("now", now);
  const native = nativeAddon();
  const text = readArgument("world", expected, () => callNative(() => native.flightRecord(world, rank, Math.round(now / 1e6))));
  return JSON.parse(text) as FlightRecord;
}
