const word = new Int32Array(new SharedArrayBuffer(4));

/** Blocks this thread for a moment: the lecture's sleep in the loop, which leaves core and words to others. */
export function pause(micros = 10): void {
  Atomics.wait(word, 0, 0, micros / 1000);
}
