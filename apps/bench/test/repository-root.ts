import { fileURLToPath } from "node:url";

/** The clone that these tests lie in. */
export const repositoryRoot = fileURLToPath(new URL("../../..", import.meta.url));
