/** Says on standard error what takes a while, and on a terminal takes it back afterwards. */
export async function withNote<T>(note: string, work: () => Promise<T>, stream: NodeJS.WriteStream = process.stderr): Promise<T> {
  stream.write(stream.isTTY ? `${note} …` : `${note} …\n`);
  try {
    return await work();
  } finally {
    if (stream.isTTY) stream.write("\r\u001b[2K");
  }
}

/** The same on a terminal only, for what is short as a rule: a pipe has nobody who waits. */
export function withTerminalNote<T>(note: string, work: () => Promise<T>, stream: NodeJS.WriteStream = process.stderr): Promise<T> {
  return stream.isTTY ? withNote(note, work, stream) : work();
}
