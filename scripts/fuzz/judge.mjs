// What counts as a failure: an error without code, facts or remedy; a stack trace; an end by a signal; a message that helps nobody.

/** What a getter or a proxy of the fuzzer's throws. */
export class CallersOwn extends Error {}

/** @returns what is wrong with an error that a function of a package threw; nothing where it says what to do. */
export function faultOf(error) {
  // A caller's own error, from a getter of the caller's own, may go through; the tables of hostile values say where it doesn't.
  if (error instanceof CallersOwn) return undefined;
  // What the operating system refuses names the path and the reason, as the command line shows it.
  if (error instanceof Error && typeof error.errno === "number" && typeof error.syscall === "string") return undefined;
  const { code, facts, remedy } = error ?? {};
  const explains = error instanceof Error && typeof code === "string" && typeof facts === "object" && typeof remedy === "string" && remedy;
  if (explains) return undefined;
  return error instanceof Error ? `${error.stack}`.split("\n").slice(0, 5).join("\n") : `threw ${typeof error}`;
}

const frame = /^\s+at .*:\d+:\d+\)?$/m;
const sanitizer = /AddressSanitizer|runtime error:|terminate called|Assertion .* failed|double free|FATAL ERROR/;
/** More than a bare statement: it goes on with what is possible, or names where to look; as JSON, a remedy. */
const helps = /[.:;] \S|"remedy":"\S|\n\(|\)$|^Rank \d+ \(process \d+\) ended with \d+\.$/m;

/**
 * @param ended - {code, signal, stdout, stderr, isInterrupted, stacks?} of a command.
 * @returns what is wrong with how it ended; nothing where all is well.
 */
export function faultOfEnd({ code, signal, stdout, stderr, isInterrupted, stacks }) {
  if (signal !== null) return ["ended by", signal, stacks].filter((part) => part !== undefined).join(" ");
  const said = `${stdout}\n${stderr}`;
  if (frame.test(said)) return "a stack trace";
  if (sanitizer.test(said)) return "words of a crash";
  if (code === 0 || isInterrupted) return undefined;
  if (code > 7 && code !== 255) return `exit code ${code}, which is in no table`;
  const message = stderr.trim() === "" ? stdout.trim() : stderr.trim();
  if (message === "") return `exit code ${code} without a word`;
  return helps.test(message) ? undefined : "a message without a remedy";
}
