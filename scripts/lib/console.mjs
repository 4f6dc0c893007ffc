// How the scripts speak: aligned lines, colours on a terminal only.

const colourful = process.stdout.isTTY === true && !process.env.NO_COLOR;
const paint = (code) => (text) => (colourful ? `\u001b[${code}m${text}\u001b[0m` : text);

export const bold = paint("1");
export const dim = paint("2");
export const red = paint("31");
export const green = paint("32");
export const yellow = paint("33");

export const line = (text = "") => process.stdout.write(`${text}\n`);

/** One aligned line: what, how it went, how long it took. */
export function step(name, detail, seconds) {
  const time = seconds === undefined ? "" : dim(`${seconds.toFixed(1)} s`.padStart(8));
  line(`  ${name.padEnd(20)} ${detail.padEnd(44)}${time}`.trimEnd());
}

/** Ends the program with a message that a reader can act upon. */
export function giveUp(message) {
  process.stderr.write(`\n${red("stopped:")} ${message}\n`);
  process.exit(1);
}
