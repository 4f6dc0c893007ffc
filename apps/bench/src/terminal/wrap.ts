const narrowest = 40;
const widest = 100;

/** Columns that text may take: the terminal's, within reason; 100 in a pipe, whose reader has no width, and in mpirun's terminals, of 0. */
export function textWidth(stream: { readonly columns?: number } = process.stdout): number {
  return Math.min(Math.max(stream.columns || widest, narrowest), widest);
}

/**
 * Breaks lines at spaces; a word that is too long keeps a line of its own.
 * @param indent - spaces before the first line; those that follow get two more, or none where the first has none.
 */
export function wrap(text: string, width: number = textWidth(), indent = 0): string {
  return text
    .split("\n")
    .map((line) => wrapLine(line, width, indent))
    .join("\n");
}

/** For standard error: broken for a terminal only. In a pipe a sentence stays on its line, where grep finds it. */
export function wrapOnTerminal(text: string, stream: { readonly isTTY?: boolean; readonly columns?: number } = process.stderr): string {
  return stream.isTTY === true ? wrap(text, textWidth(stream)) : text;
}

function wrapLine(text: string, width: number, indent: number): string {
  const hanging = " ".repeat(indent === 0 ? 0 : indent + 2);
  const lines: string[] = [];
  let line = " ".repeat(indent);
  let isEmpty = true;
  for (const word of text.split(" ")) {
    if (!isEmpty && line.length + 1 + word.length > width) {
      lines.push(line);
      line = hanging + word;
    } else {
      line += isEmpty ? word : ` ${word}`;
    }
    isEmpty = false;
  }
  return [...lines, line].join("\n");
}
