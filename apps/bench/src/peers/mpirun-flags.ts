/** More ranks than cores are allowed, nothing is pinned, and messages go through shared memory. */
export function mpirunFlags(isRoot: boolean): string[] {
  return [...(isRoot ? ["--allow-run-as-root"] : []), "--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader"];
}
