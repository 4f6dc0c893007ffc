// Tries cases of one target, one after the other, and says which it is at, so that whoever started it knows where it died.
import { Random } from "./random.mjs";

const [, , target, seed, from, to] = process.argv;
const tell = (message) => new Promise((resolve) => process.send(message, resolve));

let current = Number(from);
const isLate = (error) =>
  tell({ fault: `thrown when nobody could catch it: ${error?.stack ?? error}`, at: current }).then(() => process.exit(1));
process.on("uncaughtException", isLate);
process.on("unhandledRejection", isLate);

const { tryCase } = await import(`./targets/${target}.mjs`);
await tell({ ready: true });
// Not a signal: what a case has made is taken away before the end.
let isOver = false;
process.on("message", () => {
  isOver = true;
});
for (; current < Number(to) && !isOver; current += 1) {
  await tell({ at: current });
  // Neighbouring seeds of this generator have nothing in common.
  const fault = await tryCase(new Random(Math.imul(Number(seed) + current, 2_654_435_761)));
  if (fault) await tell({ fault, at: current });
}
process.exit(0);
