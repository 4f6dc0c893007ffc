import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const cacheDirectory = join(root, ".cache");
export const buildDirectory = (preset) => join(root, "build", preset);
export const pnpmVersion = "10.34.9";
