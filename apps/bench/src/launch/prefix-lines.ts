import { Transform } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** Puts a prefix before each line, of which it hands on whole ones only; the last one gets an end where it has none. */
export function prefixLines(prefix: string): Transform {
  const decoder = new StringDecoder("utf8");
  let begun = "";
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const lines = (begun + decoder.write(chunk)).split("\n");
      begun = lines.pop() ?? "";
      done(null, lines.map((line) => `${prefix}${line}\n`).join(""));
    },
    flush(done) {
      const rest = begun + decoder.end();
      done(null, rest === "" ? "" : `${prefix}${rest}\n`);
    },
  });
}
