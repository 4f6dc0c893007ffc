/**
 * Fails where the process is ended with 0 before the work is done, which only a file that a command has loaded can do: to whoever asked,
 * 0 would mean that all went well.
 * @returns what says that it is done.
 */
export function failUnfinished(): () => void {
  const onExit = (): void => {
    // Others may have said more by now.
    if ((process.exitCode ?? 0) !== 0) return;
    process.stderr.write("Ended before the command was done: a file that it loaded has called process.exit(). Leave that out.\n");
    process.exitCode = 1;
  };
  process.once("exit", onExit);
  return () => process.off("exit", onExit);
}
