import { constants } from "node:buffer";
import { byteSizeOf, type DataType, InvalidArgumentError, isDataType } from "@dfccl/primitives";
import type { Backend } from "./backend.js";
import { EngineError } from "./errors.js";

/**
 * Bytes of a buffer that a rank is to allocate.
 * @throws {InvalidArgumentError}; {@link EngineError} OUT_OF_MEMORY for more than this Node has buffers for.
 */
export function bytesOfBuffer(backend: Backend, dataType: DataType, length: number): number {
  if (!isDataType(dataType)) throw new InvalidArgumentError("dataType", dataType, 'a data type such as "float32"');
  const isWhole = typeof length === "number" && Number.isInteger(length) && length >= 0;
  const bytes = isWhole ? length * byteSizeOf(dataType) : Number.POSITIVE_INFINITY;
  if (bytes > Number.MAX_SAFE_INTEGER) throw new InvalidArgumentError("length", length, "a whole number of elements");
  // What a GPU has, its driver knows.
  if (backend === "cpu" && bytes > constants.MAX_LENGTH) {
    throw new EngineError(
      "OUT_OF_MEMORY",
      `${length} elements of ${dataType} are ${bytes} bytes, and a buffer of Node ${process.versions.node} has ${constants.MAX_LENGTH} at most.`,
      "Use several buffers, or a newer Node: from 22 on there is no such limit.",
      { dataType, length, bytes, most: constants.MAX_LENGTH },
    );
  }
  return bytes;
}
