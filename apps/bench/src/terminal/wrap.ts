const narrowest = 40;
const widest = 100;

/** Columns that text may take: the terminal's, within reason; 100 in a pipe, whose reader has no width. */
export function textWidth(stream: { readonly columns?: number } = process.stdout): number {
  return Math.min(Math.max(stream.columns ?? widest, narrowest), widest);
}

/** Breaks one paragraph at spaces; a word that is too long keeps a line of its own. Lines after the first are indented. */
export function wrap(text: string, width: number = textWidth(), indent = ""): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && longer.length > width) {
      lines.push(line);
      line = indent + word;
    } else {
      line = longer;
    }
  }
  return [...lines, line].join("\n");
}
