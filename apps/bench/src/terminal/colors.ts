import pc from "picocolors";

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether escape codes may go to a stream: on a terminal, unless NO_COLOR says no or the terminal is a dumb one. */
export function wantsColors(stream: { readonly isTTY?: boolean }, environment: Environment = process.env): boolean {
  if (environment.NO_COLOR) return false;
  if (environment.FORCE_COLOR && environment.FORCE_COLOR !== "0") return true;
  return stream.isTTY === true && environment.TERM !== "dumb";
}

// Decided here and for each stream: picocolors alone asks about standard output only, and colours pipes where CI is set.
export const out = pc.createColors(wantsColors(process.stdout));
export const err = pc.createColors(wantsColors(process.stderr));
