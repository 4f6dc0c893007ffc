// A program in CommonJS: every module named on its command line can be required, and is the same as imported.
const names = process.argv.slice(2);
if (names.length === 0) throw new Error("no module is named");

async function main() {
  for (const name of names) {
    const required = require(name);
    if (Object.keys(required).length === 0) throw new Error(`${name} exports nothing`);
    if (required !== (await import(name))) throw new Error(`${name} is another module where it is required`);
  }
  const { version } = require("@dfccl/core/package.json");
  console.log(`Node ${process.versions.node}: ${names.length} modules required, of version ${version}`);
}
main().catch((error) => {
  console.error(error);
  process.exit(1);
});
