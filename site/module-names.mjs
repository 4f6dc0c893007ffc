// A plugin of typedoc: modules are called as programs import them, not after their sources.
import { readFileSync } from "node:fs";
import { Converter, ReflectionKind } from "typedoc";

const entries = JSON.parse(readFileSync(new URL("build/entry-points.json", import.meta.url), "utf8"));
const names = new Map(entries.map(({ name, source }) => [source.replace(/(?:\/index)?\.ts$/, ""), name]));

export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    const modules = project.getChildrenByKind(ReflectionKind.Module);
    for (const module of modules) module.name = names.get(module.name) ?? module.name;
    const missing = entries.filter(({ name }) => !modules.some((module) => module.name === name));
    if (missing.length > 0) app.logger.error(`without a page: ${missing.map(({ name }) => name).join(", ")}`);
  });
}
