/**
 * A figure in a column: two decimals where they fit, then one, then none, then an exponent.
 * @param width - of the column; the text may be longer where even the exponent doesn't fit.
 */
export function fitNumber(value: number, width: number): string {
  if (Number.isNaN(value)) return "nan".padStart(width);
  if (!Number.isFinite(value)) return "inf".padStart(width);
  const digits = integerDigits(value);
  if (digits < width - 2) return value.toFixed(2).padStart(width);
  if (digits < width - 1) return value.toFixed(1).padStart(width);
  if (digits < width + 1) return value.toFixed(0).padStart(width);
  return exponent(value, width >= 7 ? 1 : 0).padStart(width);
}

/** Digits before the point; 0 below 1, as in nccl-tests. */
function integerDigits(value: number): number {
  let digits = 0;
  for (let power = 1; value >= power; power *= 10) digits += 1;
  return digits;
}

/** C's %e, whose exponent has two digits at least. */
function exponent(value: number, decimals: number): string {
  return value.toExponential(decimals).replace(/e([+-])(\d)$/, "e$10$2");
}

/** C's %g: six significant digits, no zeros at the end. */
export function general(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (value === 0 || !Number.isFinite(value)) return value === 0 ? "0" : "inf";
  const power = Number(value.toExponential(5).split("e")[1]);
  if (power < -4 || power >= 6) {
    const [mantissa = "", tail = ""] = value.toExponential(5).split("e");
    return `${trimmed(mantissa)}e${tail.replace(/^([+-])(\d)$/, "$10$2")}`;
  }
  return trimmed(value.toFixed(5 - power));
}

function trimmed(decimal: string): string {
  return decimal.includes(".") ? decimal.replace(/\.?0+$/, "") : decimal;
}
