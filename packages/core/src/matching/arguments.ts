import {
  checkInteger,
  type DataType,
  InvalidArgumentError,
  isDataType,
  isReduceOp,
  type ReduceOp,
  readArgument,
  typedArrayOf,
} from "@dfccl/primitives";
import type { CollectiveBuffer } from "../backend.js";
import { isDeviceBuffer } from "../device-buffer.js";
import { BufferError } from "../errors.js";
import { checkDefined } from "../operator.js";
import { elementsOf, kindOf, nameOfGiven, sectionOf } from "../view-facts.js";
import type { Counts, Tag } from "./group-api.js";

const typesByArray: Readonly<Record<string, DataType>> = {
  Int8Array: "int8",
  Uint8Array: "uint8",
  Int32Array: "int32",
  Uint32Array: "uint32",
  BigInt64Array: "int64",
  BigUint64Array: "uint64",
  Float32Array: "float32",
  Float64Array: "float64",
};

/** What a collective's elements are, as its buffer or its caller says. @throws {InvalidArgumentError}, {@link BufferError} */
export function elementTypeOf(
  name: string,
  which: "send" | "recv",
  buffer: CollectiveBuffer | null | undefined,
  given: DataType | undefined,
): DataType {
  if (given !== undefined) {
    if (isDataType(given)) return given;
    throw new InvalidArgumentError("dataType", given, 'a data type such as "float32"');
  }
  if (isDeviceBuffer(buffer)) return buffer.dataType;
  const kind = kindOf(buffer);
  const known = kind === undefined ? undefined : typesByArray[kind];
  if (known !== undefined) return known;
  if (kind === "Uint16Array") {
    const remedy = 'Add dataType: "float16" or dataType: "bfloat16".';
    throw new BufferError(name, which, "is a Uint16Array, which doesn't tell what it holds", remedy, { given: "Uint16Array" });
  }
  throw notElements(name, which, buffer);
}

function notElements(name: string, which: "send" | "recv", buffer: unknown): BufferError {
  const given = buffer === undefined || buffer === null ? undefined : nameOfGiven(buffer);
  return new BufferError(
    name,
    which,
    given === undefined ? "is missing" : `is a ${given}`,
    "Pass a typed array, such as a Float32Array, whose elements lie one behind the other; in a world on GPUs, a DeviceBuffer.",
    { given },
  );
}

/** Elements of a buffer. @throws {BufferError} for what has none. */
export function lengthOf(name: string, which: "send" | "recv", buffer: CollectiveBuffer | null | undefined): number {
  if (isDeviceBuffer(buffer)) return buffer.length;
  if (kindOf(buffer) !== undefined) return elementsOf(buffer);
  throw notElements(name, which, buffer);
}

/**
 * Elements `begin` to `begin + count` of a buffer.
 * @throws {BufferError}
 */
export function partOf(
  name: string,
  which: "send" | "recv",
  buffer: CollectiveBuffer | null | undefined,
  dataType: DataType,
  begin: number,
  count: number,
): CollectiveBuffer {
  const length = lengthOf(name, which, buffer);
  if (isDeviceBuffer(buffer) ? buffer.dataType !== dataType : kindOf(buffer) !== typedArrayOf(dataType).name) {
    const given = isDeviceBuffer(buffer) ? `DeviceBuffer of ${buffer.dataType}` : nameOfGiven(buffer);
    throw new BufferError(name, which, `is a ${given}`, `Pass one of ${dataType}.`, { given, dataType });
  }
  if (begin + count > length) {
    throw new BufferError(name, which, `has ${length} elements`, `It needs ${begin + count}.`, { length, elements: begin + count });
  }
  return isDeviceBuffer(buffer) ? buffer.subarray(begin, begin + count) : sectionOf(dataType, buffer, begin, count);
}

/**
 * In the form in which tags are compared: a number wherever one holds it.
 * @throws {InvalidArgumentError}
 */
export function tagOf(argument: string, tag: Tag | undefined): Tag {
  if (tag === undefined) return 0;
  if (typeof tag === "number" && Number.isSafeInteger(tag) && tag >= 0) return tag === 0 ? 0 : tag;
  if (typeof tag === "bigint" && tag >= 0n && tag < 2n ** 64n) return tag <= Number.MAX_SAFE_INTEGER ? Number(tag) : tag;
  throw new InvalidArgumentError(argument, tag, "a whole number from 0 to 2^64 - 1, as a bigint from 2^53 on");
}

/** @throws {InvalidArgumentError} */
export function countOf(count: number | undefined, byBuffer: number): number {
  if (count === undefined) return byBuffer;
  checkInteger("count", count, 0);
  return count;
}

/** @throws {InvalidArgumentError} */
export function placeOf(argument: "root" | "peer", place: number | undefined, size: number): number {
  if (place === undefined && argument === "root") return 0;
  if (typeof place === "number" && Number.isInteger(place) && place >= 0 && place < size) return place;
  throw new InvalidArgumentError(argument, place, `a place in the group, from 0 to ${size - 1}`);
}

/** Where each member's elements lie in a buffer. */
export interface Span {
  readonly begin: number;
  readonly count: number;
}

/** @throws {InvalidArgumentError} for a list of another length, negative entries, and sums beyond what a number holds. */
export function spansOf(argument: string, counts: Counts, displacements: Counts | undefined, size: number): readonly Span[] {
  checkList(argument, counts, size);
  if (displacements !== undefined) checkList(argument === "counts" ? "displacements" : displacementsOf(argument), displacements, size);
  const spans: Span[] = [];
  let next = 0;
  for (let member = 0; member < size; member += 1) {
    const [count, begin] = [counts[member] ?? 0, displacements?.[member] ?? next];
    next = begin + count;
    if (!Number.isSafeInteger(next)) throw new InvalidArgumentError(argument, counts, "counts whose sum is below 2^53");
    spans.push({ begin, count });
  }
  return spans;
}

const displacementsOf = (counts: string): string => counts.replace("Counts", "Displacements");

function checkList(argument: string, list: Counts, size: number): void {
  const expected = `a list of ${size} whole numbers from 0 on, one for each member`;
  const isRight = readArgument(argument, expected, () => {
    if (!(Array.isArray(list) || kindOf(list) !== undefined) || list.length !== size) return false;
    return Array.from(list).every((entry) => Number.isSafeInteger(entry) && entry >= 0);
  });
  if (!isRight) throw new InvalidArgumentError(argument, list, expected);
}

/** The operator of a collective that combines. @throws {InvalidArgumentError} */
export function opOf(op: ReduceOp | undefined, dataType: DataType): ReduceOp {
  if (op === undefined) return "sum";
  if (isReduceOp(op) && op !== "scaled-sum") {
    checkDefined(op, dataType);
    return op;
  }
  const expected =
    op === "scaled-sum" ? "another operator, or register() the collective, with this rank's scale" : 'a reduction operator such as "sum"';
  throw new InvalidArgumentError("op", op, expected);
}
