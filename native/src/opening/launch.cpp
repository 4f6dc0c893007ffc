#include "opening/launch.hpp"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace dfccl {
namespace {

constexpr size_t kMostSecretBytes = 4096;

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

/// Whether a name is this machine's own, without asking anybody.
bool isLoopbackName(const std::string& host) {
  return host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0;
}

std::string addressFor(const Environment& environment, const Launcher& launcher, uint32_t size) {
  if (const char* address = valueOf(environment, "DFCCL_ADDRESS")) return address;
  // Slurm writes "4(x2)" for four on each of two nodes.
  const char* here = valueOf(environment, launcher.localSize);
  const char* master = valueOf(environment, "MASTER_ADDR");
  if (here != nullptr && here == std::to_string(size)) return {};
  if (master == nullptr) {
    if (here == nullptr) return {};
    throw Error(
        dfcclInvalidArgument,
        std::string(launcher.name) + " started " + here + " of " + std::to_string(size) +
            " ranks on this machine, and nothing tells where they meet those on others.",
        "Set MASTER_ADDR and MASTER_PORT to rank 0's machine and a free port of it, and DFCCL_JOB_SECRET, in all "
        "processes.",
        {{"field", launcher.localSize}, {"value", here}});
  }
  // Without a word about other machines, rank 0's address may be one that means this one.
  const bool readsMaster = std::string_view(launcher.rank) == "RANK";
  if (here == nullptr && (!readsMaster || isLoopbackName(master))) return {};
  uint32_t port = number(environment, "MASTER_PORT", 1, 65534);
  // There torchrun's own agent listens.
  const char* agent = valueOf(environment, "TORCHELASTIC_USE_AGENT_STORE");
  if (agent != nullptr && std::string_view(agent) == "True") ++port;
  const bool isNumeric6 = std::string_view(master).find(':') != std::string_view::npos;
  return (isNumeric6 ? "[" + std::string(master) + "]" : std::string(master)) + ":" + std::to_string(port);
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
  Launch launch{launcher->name, 0, 0, {}, {}, {}};
  launch.size = number(environment, launcher->size, 1, 1024);
  launch.rank = number(environment, launcher->rank, 0, launch.size - 1);
  launch.address = addressFor(environment, *launcher, launch.size);
  if (const char* host = valueOf(environment, "DFCCL_HOST")) launch.hostName = host;
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
    const bool byHand = std::string_view(launcher->job.front()) == "DFCCL_JOB";
    throw Error(dfcclInvalidArgument,
                std::string("The environment tells this process its rank (") + launcher->rank + "), but not its job.",
                "Set " + (byHand ? "DFCCL_JOB" : std::string(launcher->job.front()) + ", or DFCCL_JOB,") +
                    " to the same in all processes of the job.",
                {{"field", launcher->job.front()}});
  }
  return launch;
}

std::string readSecret(const Environment& environment) {
  if (const char* secret = valueOf(environment, "DFCCL_JOB_SECRET")) return secret;
  const char* path = valueOf(environment, "DFCCL_JOB_SECRET_FILE");
  if (path == nullptr) return {};
  // So much, because a device may have no end; by read(), because an iterator throws at a folder.
  std::string secret(kMostSecretBytes + 1, '\0');
  std::ifstream file(path);
  file.read(secret.data(), static_cast<std::streamsize>(secret.size()));
  secret.resize(static_cast<size_t>(file.gcount()));
  if (secret.size() > kMostSecretBytes) secret.clear();
  while (!secret.empty() && std::isspace(static_cast<unsigned char>(secret.back())) != 0) secret.pop_back();
  if (!secret.empty()) return secret;
  throw Error(dfcclInvalidArgument, std::string("The job's secret can't be read from ") + path + ".",
              "Put it into that file, readable for this user, in up to 4096 bytes (openssl rand -hex 32).",
              {{"field", "DFCCL_JOB_SECRET_FILE"}, {"value", path}});
}

RendezvousPoint readAddress(const std::string& address) {
  const size_t colon = address.rfind(':');
  RendezvousPoint point;
  const std::string port = colon == std::string::npos ? "" : address.substr(colon + 1);
  point.host = address.substr(0, colon == std::string::npos ? 0 : colon);
  if (point.host.size() > 2 && point.host.front() == '[' && point.host.back() == ']')
    point.host = point.host.substr(1, point.host.size() - 2);
  char* end = nullptr;
  const unsigned long value = std::strtoul(port.c_str(), &end, 10);
  if (point.host.empty() || port.empty() || *end != '\0' || value == 0 || value > 65535) {
    throw Error(dfcclInvalidArgument, "The address where the ranks meet is \"" + address + "\".",
                "Pass rank 0's machine and a free port of it, such as node-0:29500.",
                {{"field", "DFCCL_ADDRESS"}, {"value", address}});
  }
  point.port = static_cast<uint16_t>(value);
  return point;
}

}  // namespace dfccl
