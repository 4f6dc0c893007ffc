import { type DataType, InvalidArgumentError } from "@dfccl/primitives";

const wholeBits: Partial<Record<DataType, readonly [bits: number, isSigned: boolean]>> = {
  int8: [8, true],
  uint8: [8, false],
  int32: [32, true],
  uint32: [32, false],
  int64: [64, true],
  uint64: [64, false],
};
const mostFloat32 = (2 - 2 ** -23) * 2 ** 127;

/**
 * A factor that the type cuts off would give a wrong sum in silence: 0.5 of integers is 0.
 * @throws {InvalidArgumentError} naming the factor and the type.
 */
export function checkScale(scale: number, dataType: DataType): void {
  const whole = wholeBits[dataType];
  const most = whole ? 2 ** (whole[1] ? whole[0] - 1 : whole[0]) : dataType === "float64" ? Number.MAX_VALUE : mostFloat32;
  const least = whole && !whole[1] ? 0 : -most;
  // The smaller floats are multiplied as float32. Of whole numbers, the most itself is one too many.
  if (whole ? Number.isInteger(scale) && scale >= least && scale < most : scale >= least && scale <= most) return;
  const kind = whole ? `a whole number from ${least} to ${most} - 1` : `a number from ${least} to ${most}`;
  throw new InvalidArgumentError("scale", scale, `${kind}, by which values of ${dataType} can be multiplied`);
}
