/** Prints lines for people, or a result that is text. */
export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
