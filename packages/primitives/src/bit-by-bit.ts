/**
 * Whole numbers combined as the engine combines integers of 64 bits: JavaScript's own operators take 32 of them, the highest as a sign.
 * @returns NaN where one of them is no whole number.
 */
export function bitByBit(a: number, b: number, combine: (x: bigint, y: bigint) => bigint): number {
  return Number.isInteger(a) && Number.isInteger(b) ? Number(combine(BigInt(a), BigInt(b))) : NaN;
}
