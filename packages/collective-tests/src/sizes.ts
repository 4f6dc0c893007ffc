import { checkInteger, checkNumber, checkObject, checkText, InvalidArgumentError, readPlain } from "@dfccl/primitives";

/**
 * A number of bytes as nccl-tests reads it: decimal, with K, M or G for powers of 1024.
 * @returns undefined for anything else.
 */
export function parseSize(text: string): number | undefined {
  checkText("size", text, "a text such as 8K");
  const [, digits, unit = ""] = /^(\d+(?:\.\d+)?)([KMG]?)$/i.exec(text.trim()) ?? [];
  if (digits === undefined) return undefined;
  const bytes = Math.floor(Number(digits) * ({ "": 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }[unit.toUpperCase()] ?? Number.NaN));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

export interface Sweep {
  readonly minBytes: number;
  readonly maxBytes: number;
  readonly stepBytes: number;
  /** 1: steps of stepBytes instead. */
  readonly stepFactor: number;
}

const mostSizes = 1_000_000;

/**
 * The sizes of a run, in order.
 * @throws {InvalidArgumentError}
 */
export function sweep(of: Sweep): number[] {
  checkObject("sweep", of, "an object such as { minBytes: 8, maxBytes: 1024, stepBytes: 0, stepFactor: 2 }");
  const { minBytes, maxBytes, stepBytes, stepFactor } = readPlain("sweep", of);
  for (const [name, value] of Object.entries({ minBytes, maxBytes, stepBytes })) checkInteger(name, value, 0);
  checkNumber("stepFactor", stepFactor);
  const sizes: number[] = [];
  for (let size = minBytes; size <= maxBytes; size = stepFactor > 1 ? size * stepFactor : size + stepBytes) {
    if (sizes.length === mostSizes) throw new InvalidArgumentError("stepBytes", stepBytes, `steps that make ${mostSizes} sizes at most`);
    sizes.push(size);
    // Nothing comes after 0 by multiplication, nor after anything by steps of 0.
    if (stepFactor > 1 ? size === 0 : stepBytes === 0) break;
  }
  return sizes;
}

/** Warm-up runs double from the smallest size to the largest. */
export function warmUpSizes({ minBytes, maxBytes }: Pick<Sweep, "minBytes" | "maxBytes">): number[] {
  return sweep({ minBytes: Math.max(minBytes, 1), maxBytes, stepBytes: 0, stepFactor: 2 });
}

const reserveBytes = 2 ** 30;

/** The largest size for which there is memory: send and receive buffers, and what should arrive where that is checked. */
export function memoryCap(memoryBytes: number, isChecked: boolean): number {
  return Math.max(0, Math.floor((memoryBytes - reserveBytes) / (isChecked ? 3 : 2)));
}
