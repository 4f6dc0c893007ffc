// Which Node the packages and these scripts run on: those that can also require() an ES module, as ours are. The same as "engines" in
// package.json, which nothing can read with a library before the libraries are installed.

/** @param version - as `process.versions.node` has it. */
export function isNodeNewEnough(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19);
}
