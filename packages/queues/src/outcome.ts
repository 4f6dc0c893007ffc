/** What became of an attempt. Objects that are made once, so that the hot path allocates nothing. */
export type Outcome<Reason extends string> = { readonly ok: true } | { readonly ok: false; readonly reason: Reason };

export const DONE = Object.freeze({ ok: true as const });

/** No room. Try again after the other side has made progress. */
export const FULL = Object.freeze({ ok: false as const, reason: "full" as const });

/** Another participant is at work there. Try again at once or later; nothing was changed. */
export const BUSY = Object.freeze({ ok: false as const, reason: "busy" as const });
