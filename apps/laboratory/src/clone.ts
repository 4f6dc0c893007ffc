import { fileURLToPath } from "node:url";

/** The clone of the repository that this lies in, built or as source. */
export const clone = fileURLToPath(new URL("../../..", import.meta.url));
