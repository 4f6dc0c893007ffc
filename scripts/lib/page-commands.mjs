// The commands of a page of docs/, to be run as a reader would type them.
const block = /^```(\w+)\n(.*?)^```$/gms;

/**
 * @returns {script, printed}: one shell script of all blocks of commands, in their order, and what the page shows of its output.
 *   A block of C before which the page says "Save this as `NAME`" is written there first.
 */
export function pageCommands(page) {
  const parts = [];
  const printed = [];
  let end = 0;
  for (const match of page.matchAll(block)) {
    const [whole, language, text] = match;
    const before = page.slice(end, match.index);
    end = match.index + whole.length;
    const file = /Save this as `([\w.-]+)`:\s*$/.exec(before)?.[1];
    if (language === "sh") parts.push(text);
    else if (language === "text") printed.push(...text.trimEnd().split("\n"));
    else if (file) parts.push(`cat > ${file} <<'end of ${file}'\n${text}end of ${file}\n`);
    else throw new Error(`a block of ${language} is neither commands nor a file that the page names`);
  }
  return { script: parts.join("\n"), printed };
}
