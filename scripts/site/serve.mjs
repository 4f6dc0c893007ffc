// The built site at an address of this machine, as a host of static pages serves it: /guide is guide.html.
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

/** @returns {url, close}. */
export async function serve(folder) {
  const server = createServer((request, response) => {
    const path = join(folder, normalize(decodeURIComponent(new URL(request.url, "http://site").pathname)));
    const file = [path, `${path}.html`, join(path, "index.html")].find((one) => statSync(one, { throwIfNoEntry: false })?.isFile());
    response.writeHead(file ? 200 : 404, { "content-type": types[extname(file ?? "")] ?? "text/plain" });
    if (file) createReadStream(file).pipe(response);
    else response.end("not found");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
