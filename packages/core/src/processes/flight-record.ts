import type { WorldStatus } from "./inspect-worlds.js";

type Collective = WorldStatus["collectives"][number];

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

// Older ones say nothing that these don't.
const mostRuns = 64;

const operations: Readonly<Record<string, string>> = {
  "all-gather": "_all_gather_base",
  "reduce-scatter": "_reduce_scatter_base",
  barrier: "all_reduce_barrier",
  // The analyzer stops at a name that it doesn't know, and holds no rank's sizes of this one against another's.
  "send-recv": "all_to_all",
  custom: "all_to_all",
};
const types: Readonly<Record<string, string>> = {
  int8: "Char",
  uint8: "Byte",
  int32: "Int",
  uint32: "UInt32",
  int64: "Long",
  uint64: "UInt64",
  float16: "Half",
  bfloat16: "BFloat16",
  float32: "Float",
  float64: "Double",
  float8e4m3: "Float8_e4m3fn",
  float8e5m2: "Float8_e5m2",
};

/**
 * The runs of one rank of a world, as PyTorch's flight recorder dumps them. There, all ranks of a group must issue the same
 * sequence; here that holds of each collective's runs alone, so each collective is a group, and its runs are the sequence.
 * @param now - nanoseconds since 1970.
 * @see https://docs.pytorch.org/tutorials/prototype/flight_recorder_tutorial.html
 */
export function flightRecordOf(world: WorldStatus, rank: number, now: number = Date.now() * 1e6): FlightRecord {
  const mine = world.collectives.flatMap((collective, group) => {
    const member = collective.members.find((one) => one.rank === rank);
    return member === undefined ? [] : [{ collective, group, member }];
  });
  const entries = mine.flatMap(({ collective, group, member }) => {
    // From the slowest member's last on, so that every rank's record has all that another's may be compared with.
    const slowest = Math.min(...collective.members.map(({ finished }) => finished));
    const first = Math.max(0, slowest - 1, member.submitted - mostRuns);
    return Array.from({ length: member.submitted - first }, (_, i) => entryOf(collective, group, member, first + i, now));
  });
  return {
    version: "2.10",
    pg_config: Object.fromEntries(
      mine.map(({ collective }) => {
        const name = nameOf(collective);
        return [name, { name, desc: collective.collective, ranks: JSON.stringify(collective.members.map((one) => one.rank)) }];
      }),
    ),
    pg_status: Object.fromEntries(
      mine.map(({ collective, member }) => [
        nameOf(collective),
        {
          last_enqueued_collective: member.submitted,
          last_started_collective: Math.min(member.submitted, member.finished + 1),
          last_completed_collective: member.finished,
        },
      ]),
    ),
    entries: entries.map((entry, record_id) => ({ ...entry, record_id })),
  };
}

function entryOf(one: Collective, group: number, member: Collective["members"][number], run: number, now: number): Entry {
  const [input, output] = sizesOf(one);
  const dtype = types[one.dataType] ?? one.dataType;
  const state = run < member.finished ? "completed" : run === member.finished ? "started" : "scheduled";
  return {
    frames: [],
    record_id: 0,
    pg_id: group,
    process_group: [nameOf(one), one.collective],
    collective_seq_id: run + 1,
    p2p_seq_id: 0,
    op_id: run + 1,
    profiling_name: `nccl:${operations[one.collective] ?? one.collective.replaceAll("-", "_")}`,
    time_created_ns: state === "started" ? now - member.waitingMs * 1e6 : null,
    input_sizes: [[input]],
    input_dtypes: [dtype],
    output_sizes: [[output]],
    output_dtypes: [dtype],
    state,
    time_discovered_started_ns: null,
    time_discovered_completed_ns: null,
    retired: state === "completed",
    timeout_ms: null,
    is_p2p: false,
    missing_ranks: one.members.filter(({ submitted }) => submitted <= run).map(({ rank }) => rank),
  };
}

const nameOf = ({ id }: Collective): string => `id ${id}`;

/** Elements of a rank's input and output. */
function sizesOf({ collective, count, members }: Collective): readonly [input: number, output: number] {
  const all = count * members.length;
  switch (collective) {
    case "all-gather":
    case "gather":
      return [count, all];
    case "reduce-scatter":
    case "scatter":
      return [all, count];
    case "all-to-all":
      return [all, all];
    default:
      return [count, count];
  }
}
