const undone = new Set<() => void>();

/**
 * Has something undone that must not outlive this process: where the scope ends, or where the process ends before, as when whoever
 * read its output has gone.
 * @param undo - must not throw, and can't wait for anything.
 */
export function undoAtExit(undo: () => void): Disposable {
  if (undone.size === 0) process.once("exit", undoNow);
  undone.add(undo);
  return {
    [Symbol.dispose]: () => {
      if (undone.delete(undo)) undo();
      if (undone.size === 0) process.off("exit", undoNow);
    },
  };
}

/** Undoes all of it; for a process that ends by a signal, of which Node tells nobody. */
export function undoNow(): void {
  // What is left is what came last, which may lie in what came before.
  for (const undo of [...undone].reverse()) undo();
  undone.clear();
}
