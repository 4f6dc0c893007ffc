import { checkObject, checkPath, readArgument } from "@dfccl/primitives";
import { callNative } from "../native-addon/native-error.js";
import { nativeAddon } from "../native-addon/native-world.js";
import type { FlightRecord } from "./flight-record.js";

/**
 * Writes a record as JSON: whole or not at all, whoever reads or dies meanwhile. Makes the folder where there is none.
 * @throws {InvalidArgumentError} for a path or a record that is none; {@link EngineError} SYSTEM, with the path and the system's reason in its facts.
 */
export function writeFlightRecord(path: string, record: FlightRecord): void {
  checkPath("path", path, "/tmp/flight_0");
  const expected = "a record such as flightRecordOf() gives";
  checkObject("record", record, expected);
  // JSON has no words for all that JavaScript has, such as bigints.
  const text = readArgument("record", expected, () => JSON.stringify(record));
  callNative(() => nativeAddon().writeFlightRecord(path, text));
}
