// The TypeScript reference. scripts/site.mjs adds what it is made of.
import { OptionDefaults } from "typedoc";

export default {
  name: "dfccl",
  readme: "none",
  out: "build/public/api",
  favicon: "icon.svg",
  tsconfig: "tsconfig.json",
  plugin: ["./module-names.mjs"],
  skipErrorChecking: true,
  excludeInternal: true,
  excludePrivate: true,
  disableSources: true,
  blockTags: [...OptionDefaults.blockTags, "@pre", "@alias"],
  logLevel: "Warn",
  // An export that has no page is told of by a warning only.
  treatWarningsAsErrors: true,
};
