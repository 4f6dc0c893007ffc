/** What `npm run bench:NAME` starts: the published command line, or the laboratory, which only a clone has. */
export const benchmarks = {
  mpi: ["apps/laboratory/dist/cli.js", "mpi"],
  collectives: ["apps/bench/dist/cli.js", "bench", "collectives"],
  overheads: ["apps/laboratory/dist/cli.js", "overheads"],
  interpreter: ["apps/laboratory/dist/cli.js", "interpreter"],
};
