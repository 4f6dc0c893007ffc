import { checkInteger, InvalidArgumentError } from "@dfccl/primitives";

/**
 * How one tensor lies on several devices, along one dimension of their hierarchy (OneFlow):
 * - split: each holds a slice along an axis;
 * - broadcast: each holds all of it;
 * - partial: each holds a tensor of full size, and the sum of all is meant.
 */
export type Sbp = { readonly kind: "split"; readonly axis: number } | { readonly kind: "broadcast" } | { readonly kind: "partial" };

/** One {@link Sbp} for each dimension of a placement's hierarchy, the outermost first. */
export type NdSbp = readonly Sbp[];

export const broadcast: Sbp = { kind: "broadcast" };
export const partial: Sbp = { kind: "partial" };

/** @throws {InvalidArgumentError} for what is no whole number from 0. */
export function split(axis: number): Sbp {
  checkInteger("axis", axis, 0);
  return { kind: "split", axis };
}

export function isSameSbp(a: Sbp, b: Sbp): boolean {
  return a.kind === b.kind && (a.kind !== "split" || b.kind !== "split" || a.axis === b.axis);
}

export function isSameNdSbp(a: NdSbp, b: NdSbp): boolean {
  return a.length === b.length && a.every((sbp, dimension) => isSameSbp(sbp, b[dimension] as Sbp));
}

/** "S0", "B", "P"; "(S0, B)" for several dimensions. */
export function formatSbp(sbp: NdSbp): string {
  const names = sbp.map((one) => (one.kind === "split" ? `S${one.axis}` : one.kind === "broadcast" ? "B" : "P"));
  return names.length === 1 ? names.join() : `(${names.join(", ")})`;
}

/** Reads what {@link formatSbp} writes. @throws {InvalidArgumentError} */
export function parseSbp(text: string): NdSbp {
  if (typeof text !== "string") throw new InvalidArgumentError("sbp", text, 'signatures such as "S0", "B", "P" or "(S0, B)"');
  const parts = text.replace(/^\((.*)\)$/s, "$1").split(",");
  return parts.map((part) => {
    const [, axis] = /^S\(?(\d+)\)?$/.exec(part.trim()) ?? [];
    if (axis !== undefined) return split(Number(axis));
    if (part.trim() === "B") return broadcast;
    if (part.trim() === "P") return partial;
    throw new InvalidArgumentError("sbp", text, 'signatures such as "S0", "B", "P" or "(S0, B)"');
  });
}
