import { checkInteger } from "./check-number.js";

/** @param a - @param b - whole, at least 1. */
export function leastCommonMultiple(a: number, b: number): number {
  checkInteger("a", a, 1);
  checkInteger("b", b, 1);
  const divisor = (x: number, y: number): number => (y === 0 ? x : divisor(y, x % y));
  return (a / divisor(a, b)) * b;
}
