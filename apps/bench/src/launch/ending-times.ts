/** What the survivors have to say about a rank that failed is worth a moment. */
export const graceMs = 2_000;

/** Between telling a rank to end and making it. */
export const killMs = 5_000;
