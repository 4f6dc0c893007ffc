/** Buffers a step can name. `input` is read only: in place, too, reduced data is named `output`. */
export const bufferKinds = ["input", "output", "scratch"] as const;

export type BufferKind = (typeof bufferKinds)[number];
