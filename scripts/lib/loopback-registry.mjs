// A registry for one test: on loopback, in a temporary folder, with no way to the outside.
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { runServer } from "verdaccio";

/** @returns {url, close}; whatever is published lives in `folder`. Anyone on this machine may publish. */
export async function startRegistry(folder) {
  mkdirSync(folder, { recursive: true });
  const open = { access: "$all", publish: "$all", unpublish: "$all" };
  const app = await runServer({
    self_path: join(folder, "config.yaml"),
    storage: join(folder, "storage"),
    auth: { htpasswd: { file: join(folder, "htpasswd"), max_users: 10 } },
    uplinks: {},
    packages: { "@*/*": open, "**": open },
    max_body_size: "200mb",
    web: { enable: false },
    log: { type: "file", path: join(folder, "registry.log"), level: "warn", format: "json" },
  });
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () => {
      server.closeAllConnections?.();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
