/** Largest value of the engine's 32-bit counters. They stop there instead of wrapping. */
export const SATURATED = 0xffff_ffff;

export function saturatingIncrement(value: number): number {
  return Math.min(value + 1, SATURATED);
}

export function saturatingAdd(a: number, b: number): number {
  return Math.min(a + b, SATURATED);
}

/** a − b, or 0. */
export function saturatingSubtract(a: number, b: number): number {
  return Math.max(a - b, 0);
}

/** Beyond 2^53 the product is rounded, but by then it is saturated anyway. */
export function saturatingMultiply(a: number, b: number): number {
  return Math.min(a * b, SATURATED);
}

/** `value` times `factor`, a multiple of 1/256 up to 256, rounded up: exact, because the intermediate stays below 2^53. */
export function saturatingScale(value: number, factor: number): number {
  return Math.min(Math.ceil(value * factor), SATURATED);
}
