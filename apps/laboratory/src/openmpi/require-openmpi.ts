import { existsSync } from "node:fs";
import { join } from "node:path";
import { BenchError, findCommand } from "dfccl/internal/measurement";

export interface OpenMpi {
  readonly mpirun: string;
  readonly program: string;
}

/**
 * @param programs - the folder of what was built.
 * @throws {BenchError} NO_OPENMPI with the command that installs it.
 */
export function requireOpenMpi(programs: string): OpenMpi {
  const mpirun = findCommand("mpirun");
  const program = join(programs, "openmpi_allreduce_mpi");
  if (mpirun !== undefined && existsSync(program)) return { mpirun, program };
  const missing = mpirun === undefined ? "mpirun is not on the PATH" : "its headers were not found when the benchmarks were built";
  throw new BenchError(
    "NO_OPENMPI",
    `OpenMPI, to compare with, is missing: ${missing}.`,
    "Type: apt-get install openmpi-bin libopenmpi-dev",
  );
}
