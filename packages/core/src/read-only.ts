/**
 * Nobody assigns to what the object shows from here on, as its types say: `rank.number = 5` is a TypeError. It isn't frozen, since a
 * class that extends its own may yet add fields.
 */
export function makeReadOnly(object: object): void {
  for (const key of Object.keys(object)) Object.defineProperty(object, key, { writable: false, configurable: false });
}
