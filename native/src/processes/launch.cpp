#include "processes/launch.hpp"

#include <cerrno>
#include <cstdlib>
#include <initializer_list>
#include <vector>

#include "error.hpp"

namespace dfccl {
namespace {

struct Launcher {
  const char* name;
  const char* sign;  // there only where the launcher started this very process
  const char* rank;
  const char* size;
  const char* localSize;         // ranks on this machine; null: the launcher doesn't tell
  std::vector<const char*> job;  // together they name the job; those that aren't set count for nothing
};

const std::vector<Launcher>& launchers() {
  static const std::vector<Launcher> known{
      {"dfccl launch", "DFCCL_RANK", "DFCCL_RANK", "DFCCL_WORLD_SIZE", nullptr, {"DFCCL_JOB"}},
      {"mpirun",
       "OMPI_COMM_WORLD_RANK",
       "OMPI_COMM_WORLD_RANK",
       "OMPI_COMM_WORLD_SIZE",
       "OMPI_COMM_WORLD_LOCAL_SIZE",
       {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri"}},
      {"srun",
       "SLURM_STEP_NUM_TASKS",  // a batch script has a SLURM_PROCID too
       "SLURM_PROCID",
       "SLURM_STEP_NUM_TASKS",
       "SLURM_STEP_TASKS_PER_NODE",
       {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
      {"PMI", "PMI_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", {"PMI_JOBID", "PMI_PORT"}},
      {"torchrun",
       "RANK",
       "RANK",
       "WORLD_SIZE",
       "LOCAL_WORLD_SIZE",
       {"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID"}},
  };
  return known;
}

const char* valueOf(const Environment& environment, const char* name) {
  const char* value = name == nullptr ? nullptr : environment(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

uint32_t number(const Environment& environment, const char* name, uint32_t least, uint32_t most) {
  const char* text = valueOf(environment, name);
  if (text == nullptr) {
    throw Error(dfcclInvalidArgument, std::string("The environment variable ") + name + " is missing.",
                "Start the program with a launcher, or set it in every process.", {{"field", name}});
  }
  char* end = nullptr;
  errno = 0;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (*end != '\0' || *text == '-' || errno != 0 || value < least || value > most) {
    throw Error(dfcclInvalidArgument, std::string("The environment variable ") + name + " is \"" + text + "\".",
                "Allowed: " + std::to_string(least) + " to " + std::to_string(most) + ".",
                {{"field", name}, {"value", text}});
  }
  return static_cast<uint32_t>(value);
}

const Launcher* find(const Environment& environment) {
  for (const Launcher& launcher : launchers()) {
    if (valueOf(environment, launcher.sign) != nullptr) return &launcher;
  }
  return nullptr;
}

}  // namespace

bool isLaunched(const Environment& environment) { return find(environment) != nullptr; }

Launch readLaunch(const Environment& environment) {
  const Launcher* launcher = find(environment);
  if (launcher == nullptr) {
    throw Error(
        dfcclInvalidArgument, "This process was started by no launcher: no rank in the environment.",
        "Start the program with dfccl launch, mpirun, srun or torchrun, or set DFCCL_RANK, DFCCL_WORLD_SIZE and "
        "DFCCL_JOB in every process.",
        {{"field", "DFCCL_RANK"}});
  }
  Launch launch{launcher->name, 0, 0, {}};
  launch.size = number(environment, launcher->size, 1, 1024);
  launch.rank = number(environment, launcher->rank, 0, launch.size - 1);
  // Slurm writes "4(x2)" for four on each of two nodes.
  const char* here = valueOf(environment, launcher->localSize);
  if (here != nullptr && here != std::to_string(launch.size)) {
    throw Error(dfcclInvalidArgument,
                std::string(launcher->name) + " started " + here + " of " + std::to_string(launch.size) +
                    " ranks on this machine.",
                "Start all ranks on one machine: this version has no connection between machines.",
                {{"field", launcher->localSize}, {"value", here}});
  }
  // A name given by hand goes for every launcher: of use where two jobs would have the same.
  const char* named = valueOf(environment, "DFCCL_JOB");
  if (named != nullptr) {
    launch.job = named;
    return launch;
  }
  launch.job = launcher->name;
  bool isNamed = false;
  for (const char* variable : launcher->job) {
    const char* value = valueOf(environment, variable);
    if (value == nullptr) continue;
    launch.job += std::string("-") + value;
    isNamed = true;
  }
  if (!isNamed) {
    throw Error(
        dfcclInvalidArgument,
        std::string("The environment tells this process its rank (") + launcher->rank + "), but not its job.",
        std::string("Set ") + launcher->job.front() + ", or DFCCL_JOB, to the same in all processes of the job.",
        {{"field", launcher->job.front()}});
  }
  return launch;
}

}  // namespace dfccl
