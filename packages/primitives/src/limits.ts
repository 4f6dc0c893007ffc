/** What the engine's loader accepts, and bounds that keep the proof itself finite. Far above what collectives need. */
export const limits = {
  ranks: 65_535,
  blocks: 1024,
  slots: 1024,
  /** Sources or destinations of one multiReduceCopy. */
  references: 256,
  bufferChunks: 1 << 20,
  /** Of all buffers of all ranks. */
  chunks: 1 << 26,
  chunkAccesses: 1 << 26,
} as const;
