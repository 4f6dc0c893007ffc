// How changesets writes a note into a changelog: each paragraph a line of its own, which scripts/version.mjs then groups by kind.
module.exports = {
  getReleaseLine: async ({ summary }) =>
    summary
      .trim()
      .split(/\n\s*\n/)
      .map((paragraph) => `- ${paragraph.replaceAll("\n", "\n  ")}`)
      .join("\n"),
  // All packages carry one version, so that their dependencies on each other went with it is no news.
  getDependencyReleaseLine: async () => "",
};
