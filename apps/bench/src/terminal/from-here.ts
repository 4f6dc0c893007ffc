/**
 * Names files below the working directory from there, as whoever typed the command does: Node and the compiler know them by their
 * whole paths only.
 */
export function fromHere(text: string, workingDirectory: string = process.cwd()): string {
  if (workingDirectory === "/") return text;
  const escaped = workingDirectory.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  // Not in the middle of another path.
  return text.replaceAll(new RegExp(`(?<![\\w./~-])(?:file://)?${escaped}/`, "g"), "");
}
