import { Fnv64 } from "./binary/fnv.js";
import { checkList } from "./check-kind.js";
import { checkObject } from "./check-object.js";
import type { Collective } from "./collective.js";
import type { DataType } from "./data-type.js";
import { formatValue, InvalidArgumentError } from "./errors.js";
import type { ReduceOp } from "./reduce-op.js";
import type { SelectionChoice } from "./selection-table.js";

/** What every rank of a collective must have registered alike. */
export interface AgreedRegistration {
  readonly id: number;
  readonly collective: Collective;
  readonly dataType: DataType;
  /** Elements of a segment. */
  readonly count: number;
  readonly op?: ReduceOp | undefined;
  readonly root?: number | undefined;
  /** Global ranks, in the order that gives each its index. */
  readonly ranks: readonly number[];
  /** What the selection chose; absent for a program of the caller's own. */
  readonly choice?: SelectionChoice | undefined;
  /** `programDigest` of the program that will run. */
  readonly program: bigint;
}

export interface RegistrationDifference {
  readonly field: string;
  readonly mine: string;
  readonly theirs: string;
}

/** 64-bit digest of a registration: ranks exchange it, and only where it differs do they need the registration itself. */
export function registrationDigest(registration: AgreedRegistration): bigint {
  const text = [...fieldsOf(registration)].map(([field, value]) => `${field}=${value};`).join("");
  return new Fnv64().update(new TextEncoder().encode(text)).digest();
}

/** Names every field in which two ranks' registrations differ; empty exactly if they agree. */
export function compareRegistrations(mine: AgreedRegistration, theirs: AgreedRegistration): RegistrationDifference[] {
  const other = fieldsOf(theirs);
  return [...fieldsOf(mine)].flatMap(([field, value]) => {
    const their = other.get(field) ?? "";
    return value === their ? [] : [{ field, mine: value, theirs: their }];
  });
}

/** Always the same fields in the same order, whatever the order of the object's properties. */
function fieldsOf(registration: AgreedRegistration): Map<string, string> {
  checkObject("registration", registration, "an object such as { id, collective, dataType, count, ranks, program }");
  checkList("ranks", registration.ranks, "a list of ranks");
  if (typeof registration.program !== "bigint") {
    throw new InvalidArgumentError("program", registration.program, "what programDigest() returns");
  }
  const { choice } = registration;
  const text = (value: unknown): string => (typeof value === "string" ? value : formatValue(value));
  return new Map([
    ["id", text(registration.id)],
    ["collective", text(registration.collective)],
    ["dataType", text(registration.dataType)],
    ["count", text(registration.count)],
    ["op", text(registration.op ?? "none")],
    ["root", text(registration.root ?? "none")],
    ["ranks", registration.ranks.map(text).join(",")],
    ["algorithm", text(choice?.algorithm ?? "none")],
    ["protocol", text(choice?.protocol ?? "none")],
    ["channels", text(choice?.channels ?? "none")],
    ["program", registration.program.toString(16)],
  ]);
}
