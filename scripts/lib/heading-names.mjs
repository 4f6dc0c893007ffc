/** The name by which a heading can be linked to, as GitHub makes it; the site does likewise, so that a link is right in both. */
export function headingName(heading) {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
    .replaceAll(" ", "-");
}
