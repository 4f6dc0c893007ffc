// The commands of a block of shell, word by word: enough of the shell's grammar for what pages show, and not for any script.
// That the whole is shell at all is for `sh -n` to say.

/** These begin no command of their own; one may follow. */
const reserved = new Set(["do", "then", "else", "if", "while", "until", "{", "!", "time"]);
const ends = new Set(["done", "fi", "}", "esac"]);

/** @returns the words of each command, without assignments before it, redirections and comments; of `$(…)`, its commands too. */
export function commandsOf(script) {
  const commands = [];
  for (const part of partsOf(script)) {
    const words = [...part.words];
    for (const inner of part.inner) commands.push(...commandsOf(inner));
    while (reserved.has(words[0]) || /^[A-Za-z_]\w*=/.test(words[0] ?? "")) words.shift();
    // `for NAME in WORDS` runs nothing.
    if (words.length > 0 && words[0] !== "for" && !ends.has(words[0])) commands.push(words);
  }
  return commands;
}

/** What stands between operators. */
function partsOf(script) {
  const parts = [];
  let part = { words: [], inner: [] };
  let word;
  let isTarget = false;
  const endWord = () => {
    if (word !== undefined && !isTarget) part.words.push(word);
    if (word !== undefined) isTarget = false;
    word = undefined;
  };
  const endPart = () => {
    endWord();
    if (part.words.length + part.inner.length > 0) parts.push(part);
    part = { words: [], inner: [] };
  };
  for (let at = 0; at < script.length; at += 1) {
    const rest = script.slice(at);
    const character = script[at];
    const whole = /^\\\n|^\\[\s\S]|^'[^']*'|^\$\(\(.*?\)\)|^\$\{[^}]*\}/.exec(rest)?.[0];
    if (whole !== undefined) {
      if (whole !== "\\\n") word = (word ?? "") + (whole[0] === "'" ? whole.slice(1, -1) : whole[0] === "\\" ? whole[1] : whole);
      at += whole.length - 1;
    } else if (character === '"' || rest.startsWith("$(")) {
      const [text, inner] = character === '"' ? quoted(rest) : substituted(rest);
      word = (word ?? "") + (character === '"' ? text.slice(1, -1) : text);
      part.inner.push(...inner);
      at += text.length - 1;
    } else if (character === "#" && word === undefined) at += rest.search(/\n|$/) - 1;
    else if (character === " " || character === "\t") endWord();
    else if (character === ">" || character === "<") {
      if (/^\d$/.test(word ?? "")) word = undefined;
      endWord();
      isTarget = true;
      at += /^(?:>>|[<>]&|[<>])/.exec(rest)[0].length - 1;
    } else if (/[\n;&|()]/.test(character)) endPart();
    else word = (word ?? "") + character;
  }
  endPart();
  return parts;
}

/** From its `"` to the other one. @returns the text and the commands within it. */
function quoted(text) {
  const inner = [];
  let at = 1;
  while (at < text.length && text[at] !== '"') {
    if (text[at] === "\\") at += 2;
    else if (text.startsWith("$(", at) && text[at + 2] !== "(") {
      const [whole, commands] = substituted(text.slice(at));
      inner.push(...commands);
      at += whole.length;
    } else at += 1;
  }
  return [text.slice(0, at + 1), inner];
}

/** From its `$(` to the bracket that closes it. */
function substituted(text) {
  let depth = 0;
  for (let at = 1; at < text.length; at += 1) {
    if (text[at] === "(") depth += 1;
    else if (text[at] === ")") depth -= 1;
    if (depth === 0) return [text.slice(0, at + 1), [text.slice(2, at)]];
  }
  return [text, []];
}
