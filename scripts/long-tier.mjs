// What `npm run test:long` runs: too slow for every change, run before a release and after a change to the engine.
// Each command gets DFCCL_TEST_TIER=long, by which a test may choose a bigger size. A last line of output that is a JSON
// object becomes the entry's figures in docs/benchmarks/long-tier.md.

const ctest = (preset, labels, repeat = "1") => ["node", "scripts/checks/ctest.mjs", preset, labels, repeat];
const survivors = "^network/(survivors|quorum)";

export const entries = [
  {
    name: "all native tests under AddressSanitizer and UBSan",
    command: ctest("asan", "unit|c|stress"),
    minutes: 60,
  },
  {
    name: "all native tests under ThreadSanitizer",
    command: ctest("tsan", "unit|c|stress"),
    minutes: 90,
  },
  {
    name: "how programs with work in flight end, with the addon under AddressSanitizer and UBSan",
    command: ["node", "scripts/lifecycle-asan.mjs"],
    minutes: 80,
  },
  {
    name: "the GPU code as it ships, for every architecture (where nvcc is)",
    command: ["node", "scripts/checks/cuda.mjs", "all"],
    minutes: 90,
  },
  {
    name: "a million runs in opposite orders with 16 slots, of 5,000 ids and of two; 3,000 random programs of what is outstanding",
    command: ["ctest", "--test-dir", "build/release", "--output-on-failure", "-R", "^world/outstanding"],
    minutes: 20,
  },
  {
    name: "an hour of nonsense to the command line, the JavaScript and C APIs, programs, XML, JSON and sockets",
    command: ["node", "scripts/fuzz.mjs", "--minutes", "60"],
    minutes: 90,
  },
  {
    name: "stress tests, 20 times each",
    command: ctest("release", "stress", "20"),
    minutes: 60,
  },
  {
    name: "10,000 random programs of the language against their meaning, and as many mutants",
    command: ["vitest", "run", "--project", "compiler", "random-programs"],
    minutes: 30,
  },
  {
    name: "every compiled algorithm on 2–16 ranks × instances × protocols, bit by bit on the engine",
    command: ["vitest", "run", "--project", "bench", "test/programs/run-on-engine"],
    minutes: 30,
  },
  {
    name: "every program of the collective tests on 1–8 ranks × types × operators × roots, bit by bit, in place and out",
    command: ["vitest", "run", "--project", "bench", "test/perf"],
    minutes: 60,
  },
  {
    name: "kill -9 and SIGSTOP of a rank's process at 200 random moments, and two deaths at 200 more; 10,000 strangers at the rendezvous",
    command: ["ctest", "--test-dir", "build/release", "--output-on-failure", "-R", "^processes/"],
    minutes: 20,
  },
  {
    name: "four machines of two ranks × ResNet-50 × 200 iterations; 60 deaths and cuts; delay, loss and reordering; 10,000 strangers",
    command: ["ctest", "--test-dir", "build/release", "--output-on-failure", "-R", "^network/", "-E", survivors],
    minutes: 40,
  },
  {
    name: "two deaths on three machines at 200 random moments; 10,000 simulated worlds that lose ranks, machines and links",
    command: ["ctest", "--test-dir", "build/release", "--output-on-failure", "-R", survivors],
    minutes: 30,
  },
  {
    name: "launches and measurements that are ended at 224 random moments: nothing is left of them",
    command: ["vitest", "run", "--project", "bench", "test/command/killed"],
    minutes: 30,
  },
  {
    // Pinned buffers are refused, and what an abort means that comes before a peer has registered is not defined.
    name: "50,000 random stream programs beside all that CUDA makes wait, on simulated devices",
    command: ["build/release/bench/dfccl_simulated_stream_programs", "--without", "pinned,aborts"],
    minutes: 120,
  },
  {
    name: "8 processes × ResNet-50 × 200 iterations in random orders, with synchronizations, under dfccl launch",
    command: ["node", "apps/bench/dist/cli.js", "launch", "-n", "8", "dfccl", "disorder", "--iterations", "200", "--json"],
    minutes: 20,
  },
  {
    name: "150 random schedules, with polls that fail in a row counted at once and one by one",
    command: ["vitest", "run", "--project", "simulator", "test/schedule/simulate-schedule"],
    minutes: 20,
  },
  {
    name: "every pair of signatures along three dimensions, boxed, against the dense tensor",
    command: ["vitest", "run", "--project", "actor", "test/boxing"],
    minutes: 20,
  },
  {
    name: "8 ranks × ResNet-50 × 200 iterations in random orders, with synchronizations",
    command: ["node", "apps/bench/dist/cli.js", "disorder", "--ranks", "8", "--iterations", "200", "--control", "--json"],
    minutes: 60,
  },
  {
    name: "training in parallel by data: the same losses as one rank, 100 steps, every schedule; digits to the end, at least 97 % right",
    command: ["vitest", "run", "--project", "train", "test/train.test.ts"],
    minutes: 30,
  },
  {
    name: "a GPT cut in six ways, up to 2 × 2 × 2: the same parameters as on one rank after 50 steps",
    command: ["vitest", "run", "--project", "train", "test/parallel"],
    minutes: 30,
  },
  {
    name: "1,000 steps of training with another order of the gradients on each rank, pauses and synchronizations",
    command: ["vitest", "run", "--project", "train", "test/disorder"],
    minutes: 30,
  },
  {
    name: "PyTorch's own suite for backends on two ranks: all that passes with Gloo",
    command: ["node", "scripts/checks/python.mjs", "tests/test_pytorch_suite.py"],
    minutes: 30,
  },
  {
    name: "PyTorch's own suite for backends on four ranks: all that passes with Gloo",
    command: ["node", "scripts/checks/python.mjs", "tests/long/test_suite_of_four.py"],
    minutes: 60,
  },
  {
    name: "PyTorch's own suite for backends on two ranks, with torch 2.14.1",
    command: ["env", "DFCCL_TEST_TORCH=2.14.1", "node", "scripts/checks/python.mjs", "tests/test_pytorch_suite.py"],
    minutes: 60,
  },
  {
    name: "what torch builds on process groups (meshes, DTensor, FSDP, pipelines, checkpoints), four ranks, beside Gloo",
    command: ["node", "scripts/checks/python.mjs", "tests/test_layers.py"],
    minutes: 20,
  },
  {
    name: "2,000 random programs of torch.distributed, another order on each rank: Gloo's results in the written order",
    command: ["node", "scripts/checks/python.mjs", "tests/test_programs.py"],
    minutes: 60,
  },
  {
    name: "trainings by torchrun, Accelerate and Lightning with Gloo's losses; demonstrations in which Gloo hangs",
    command: ["node", "scripts/checks/python.mjs", "tests/long/test_launchers.py", "tests/long/test_demonstrations.py"],
    minutes: 60,
  },
  {
    name: "the site, built and looked at in Chromium: every page, link, picture and block of code, and the search (where a browser is)",
    command: ["node", "scripts/checks/site.mjs"],
    minutes: 30,
  },
];
