/**
 * A page with its relative links replaced where `addressOf` knows another address; code is left as it is.
 * @param addressOf - gets a link's path, without its heading; undefined leaves the link alone.
 */
export function withRepositoryLinks(markdown, addressOf) {
  const outside = (text) =>
    text.replaceAll(/(`[^`\n]*`)|(\]\()([^)\s#]+)(#[^)\s]*)?(?=[)\s])/g, (all, code, opening, path, heading = "") => {
      if (code !== undefined || /^[a-z][a-z+.-]*:/i.test(path)) return all;
      const address = addressOf(path);
      return address === undefined ? all : `${opening}${address}${heading}`;
    });
  return markdown
    .split(/(^```.*?^```$)/ms)
    .map((part) => (part.startsWith("```") ? part : outside(part)))
    .join("");
}
