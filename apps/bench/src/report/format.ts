import type { Axis } from "./model.js";

// Made once: toLocaleString() looks for one at every number, and takes twice as long.
const wholeNumbers = new Intl.NumberFormat("en-US");

/** A value as its axis reads it. Runs here and in the browser. */
export function formatValue(value: number | string | null | undefined, format: Axis["format"]): string {
  if (value === null || value === undefined || (typeof value === "number" && Number.isNaN(value))) return "–";
  if (typeof value === "string" || format === "text") return String(value);
  switch (format) {
    case "bytes":
      return scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
    case "micros":
      return scaled(value, 1000, ["µs", "ms", "s"]);
    case "nanos":
      return scaled(value, 1000, ["ns", "µs", "ms", "s"]);
    case "gigabytesPerSecond":
      return scaled(value * 1e9, 1000, ["B/s", "KB/s", "MB/s", "GB/s", "TB/s"]);
    case "number":
      return significant(value);
  }
}

function scaled(value: number, base: number, units: readonly string[]): string {
  let [scale, unit] = [value, 0];
  while (Math.abs(scale) >= base && unit < units.length - 1) {
    scale /= base;
    unit += 1;
  }
  return `${significant(scale)} ${units[unit]}`;
}

function significant(value: number): string {
  return Number.isSafeInteger(value) ? wholeNumbers.format(value) : String(Number(value.toPrecision(3)));
}
