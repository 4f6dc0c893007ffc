/**
 * The C headers as one page: a heading for each section, a comment and the declarations below it, in the headers' order.
 * @param headers - their texts.
 */
export function cReference(headers) {
  const parts = headers.flatMap((header) => [...declarations(header)]);
  return `# C reference\n\nMade from the headers. [How to build and link](./c.md).\n\n${parts.join("\n\n")}\n`;
}

function* declarations(header) {
  // Guards, includes and what is for C++ are nobody's reference; macros of several lines are one.
  const text = header.replaceAll(/^#(?!define DFCCL_\w+(?:\(| \S|\s*\\)).*\n|^extern "C" \{\n|^\}\n/gm, "");
  for (const [, section, comment, code] of text.matchAll(/^\/\* -{4} (.+?) -+ \*\/$|^\/\*(.*?)\*\/$|((?:^(?!\/\*)[^\n]+\n)+)/gms)) {
    if (section !== undefined) yield `## ${section.trim()}`;
    else if (comment !== undefined) yield proseOf(comment);
    else yield `\`\`\`c\n${code.trimEnd()}\n\`\`\``;
  }
}

/** A comment's text, in which nothing is markup. */
function proseOf(comment) {
  const lines = comment.split("\n").map((text) => text.replace(/^\s*\*? ?/, "").trimEnd());
  return lines
    .join("\n")
    .trim()
    .replaceAll(/[<>*_`[\]{}]/g, (mark) => `\\${mark}`);
}
