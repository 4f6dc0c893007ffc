/** Ranks of one plan, stages of one pipeline: a task's id has 16 bits for its rank. */
export const mostRanks = 65_536;

/** Passes of one pipeline in each direction: stages × micro-batches. With its registers each takes some 600 bytes, which a heap of 4 GiB holds. */
export const mostPasses = 2 ** 22;

/** Registers of one plan, all of them together: each takes some 300 bytes besides its elements. */
export const mostRegisters = 2 ** 23;

/** Entries of a list that a caller gives: far above what anything here is made of, and below what takes a process's memory. */
export const mostEntries = 2 ** 24;
