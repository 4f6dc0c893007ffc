import type { BackendName, Measured, MeasuredRow, PerfCase, Side } from "@dfccl/collective-tests";

interface NativeRow {
  readonly row: number;
  readonly outOfPlace: Side;
  readonly inPlace: Side;
}

export interface NativeFailure {
  readonly error: string;
  readonly exit: number;
}

export type NativeLine =
  | { readonly kind: "row"; readonly row: MeasuredRow }
  | { readonly kind: "failure"; readonly failure: NativeFailure }
  | { readonly kind: "text" };

/** What a line of the native loop says. Rows are numbered with the warm-ups before them. */
export function readNativeLine(line: string, backend: BackendName, warmUps: number, cases: readonly PerfCase[]): NativeLine {
  if (!line.startsWith("{")) return { kind: "text" };
  const object = JSON.parse(line) as Readonly<Record<string, unknown>>;
  if (typeof object.error === "string") return { kind: "failure", failure: object as unknown as NativeFailure };
  if (typeof object.row !== "number") return { kind: "text" };
  const native = object as unknown as NativeRow;
  const measured = cases[native.row - warmUps];
  if (measured === undefined) return { kind: "text" };
  const row = { backend, case: measured, outOfPlace: side(native.outOfPlace), inPlace: side(native.inPlace), at: new Date() };
  return { kind: "row", row };
}

/** Counters of a library that has none are left out. */
function side(native: Side): Side {
  if (!("us" in native) || (native.counters && native.counters.visits > 0)) return native;
  const { counters: _, ...rest } = native;
  return rest satisfies Measured;
}
