/**
 * One record of a file as the numbers of a batch.
 * @param variation - in training, a number by which a record may be varied each time that it is seen; undefined in testing.
 */
export type Decode = (record: Uint8Array, into: Float32Array, variation: number | undefined) => void;

/** How records are read. Apart from the models, so that a loader's thread needs no TensorFlow.js. */
export const decoders = {
  /** A byte a character. */
  text: (record, into) => into.set(record),
  digit: decodeDigit,
} satisfies Record<string, Decode>;

export type DecoderName = keyof typeof decoders;

/** Pixels along a digit's side. */
export const digitSide = 28;

/** The class, then the pixels from 0 to 1; in training shifted by up to two pixels, so that places aren't learnt by heart. */
function decodeDigit(record: Uint8Array, into: Float32Array, variation: number | undefined): void {
  const [right, down] = variation === undefined ? [0, 0] : [(variation % 5) - 2, (Math.floor(variation / 5) % 5) - 2];
  into.fill(0);
  into[0] = record[0] ?? 0;
  for (let row = Math.max(0, down); row < digitSide + Math.min(0, down); row += 1) {
    for (let column = Math.max(0, right); column < digitSide + Math.min(0, right); column += 1) {
      into[1 + row * digitSide + column] = (record[1 + (row - down) * digitSide + column - right] ?? 0) / 255;
    }
  }
}
