/* What random programs of groups consist of: every operation that runs without registration, and runs with counts of an
 * id of their own. */
#ifndef DFCCL_TEST_GROUP_STEPS_H
#define DFCCL_TEST_GROUP_STEPS_H

#include "c_api/check.h"

enum { kRanks = 4, kSteps = 60, kMostCount = 60, kGroups = 5, kMostParts = 2, kCountedRuns = 3 };

typedef enum {
  allReduce,
  reduce,
  broadcast,
  allGather,
  reduceScatter,
  allToAll,
  gather,
  scatter,
  barrier,
  message,
  fromAny,
  allToAllV,
  allGatherV,
  reduceScatterV,
  gatherV,
  scatterV,
  counted,
  kKinds
} kind_t;

struct step {
  kind_t kind;
  int group, root, peer; /* places in the group */
  size_t count;
  uint64_t tag;
};

struct plan {
  int ranks, firstId;
  int members[kGroups][kRanks], sizes[kGroups];
  struct step steps[kSteps];
};

static struct plan draw_plan(unsigned seed, int ranks) {
  struct plan plan = {.ranks = ranks, .firstId = (int)seed * kSteps};
  unsigned state = seed * 2654435761u + 1;
  for (int g = 0; g < kGroups; g++) {
    int order[kRanks];
    shuffle(order, ranks, &state);
    plan.sizes[g] = g == 0 ? ranks : 1 + (int)(next_random(&state) % (unsigned)ranks);
    memcpy(plan.members[g], order, sizeof order);
  }
  for (int s = 0; s < kSteps; s++) {
    struct step* step = &plan.steps[s];
    step->kind = (kind_t)(next_random(&state) % kKinds);
    step->group = (int)(next_random(&state) % kGroups);
    const unsigned size = (unsigned)plan.sizes[step->group];
    step->root = (int)(next_random(&state) % size);
    step->peer = (int)(next_random(&state) % size);
    step->count = next_random(&state) % kMostCount;
    /* Equal signatures go together in the order of submission, which differs, so each has a tag of its own. */
    step->tag = (uint64_t)s << 40 | next_random(&state);
  }
  return plan;
}

static int place_in(const struct plan* plan, int group, int rank) {
  for (int m = 0; m < plan->sizes[group]; m++)
    if (plan->members[group][m] == rank) return m;
  return -1;
}

/* What member m of a step has at i; small, so that sums are exact. */
static int value_of(int step, int m, size_t i) { return (int)((step * 7 + m * 13 + (int)i * 3) % 101); }
static int sum_at(int step, int members, size_t i) {
  int sum = 0;
  for (int m = 0; m < members; m++) sum += value_of(step, m, i);
  return sum;
}
/* What member `from` of an uneven collective sends to `to`; where all agree on one list, `from` is 0. */
static size_t part_of(int step, int from, int to) { return (size_t)((step + 3 * from + 5 * to) % 4); }
static size_t parts_before(int step, int from, int to) {
  size_t count = 0;
  for (int other = 0; other < to; other++) count += part_of(step, from, other);
  return count;
}
static size_t counted_of(const struct step* step, int run) {
  return run == 0 ? step->count : run == 1 ? 0 : step->count / 2;
}

struct run {
  int in[kMostCount * kRanks], out[kMostCount * kRanks];
  const int* result;
  size_t sends[kRanks], recvs[kRanks];
  dfcclRequest_t requests[kMostParts];
  int count, source;
  struct counted_runs* counted;
};

/* In memory that other processes reach. */
struct counted_runs {
  int in[kMostCount], out[kCountedRuns][kMostCount], over;
};

static void note_over(void* run, dfcclResult_t status) { ((struct counted_runs*)run)->over += status == dfcclSuccess; }

/* An id of the step's own, whose runs bring their counts, one behind the other. */
static void submit_counted(const struct plan* plan, int s, dfcclRankCtx_t ctx, struct run* run) {
  const struct step* step = &plan->steps[s];
  int members[kRanks];
  memcpy(members, plan->members[step->group], sizeof members);
  const dfcclDevSet_t ranks = {members, plan->sizes[step->group]};
  const int id = plan->firstId + s;
  void* memory = NULL;
  CHECK_OK(dfcclAllocate(sizeof *run->counted, &memory, ctx));
  struct counted_runs* const runs = run->counted = memory;
  memset(runs, 0xff, sizeof *runs);
  memcpy(runs->in, run->in, sizeof runs->in);
  runs->over = 0;
  CHECK_OK(dfcclSetCountPerRun(1, ctx));
  CHECK_OK(dfcclRegisterAllReduce(DFCCL_ANY_COUNT, dfcclInt32, dfcclSum, id, ranks, s % 3, ctx));
  CHECK_OK(dfcclSetCountPerRun(0, ctx));
  for (int i = 0; i < kCountedRuns; i++)
    CHECK_OK(dfcclRunCount(runs->in, runs->out[i], counted_of(step, i), id, note_over, runs, ctx));
}

static void submit(const struct plan* plan, int s, int rank, dfcclGroup_t group, dfcclRankCtx_t ctx, struct run* run) {
  const struct step* step = &plan->steps[s];
  const int n = plan->sizes[step->group], m = place_in(plan, step->group, rank), root = step->root;
  const size_t count = step->count;
  run->count = 0;
  run->source = -2;
  memset(run->out, 0xff, sizeof run->out);
  for (size_t i = 0; i < kMostCount * kRanks; i++) run->in[i] = value_of(s, m, i);
  for (int other = 0; other < n; other++) {
    const int agreed = step->kind != allToAllV;
    run->sends[other] = part_of(s, agreed ? 0 : m, other);
    run->recvs[other] = part_of(s, other, m);
  }
  dfcclRequest_t* request = &run->requests[run->count];
  const uint64_t tag = step->tag;
  const dfcclDataType_t type = dfcclInt32;
  int *in = run->in, *out = run->out;
  /* Each rank for itself. */
  if ((tag + (uint64_t)rank) % 2 == 0) {
    if (step->kind == allReduce) memcpy(out, in, sizeof run->in), in = out;
    if (step->kind == allGather) in = memcpy(out + (size_t)m * count, in, count * sizeof *in);
    if (step->kind == reduceScatter) out = in + (size_t)m * count;
  }
  run->result = out;
  switch (step->kind) {
    case allReduce:
      CHECK_OK(dfcclAllReduce(in, out, count, type, dfcclSum, group, tag, NULL, request));
      break;
    case reduce:
      CHECK_OK(dfcclReduce(in, m == root ? out : NULL, count, type, dfcclSum, root, group, tag, NULL, request));
      break;
    case broadcast:
      CHECK_OK(dfcclBroadcast(in, out, count, type, root, group, tag, NULL, request));
      break;
    case allGather:
      CHECK_OK(dfcclAllGather(in, out, count, type, group, tag, NULL, request));
      break;
    case reduceScatter:
      CHECK_OK(dfcclReduceScatter(in, out, count, type, dfcclSum, group, tag, NULL, request));
      break;
    case allToAll:
      CHECK_OK(dfcclAllToAll(in, out, count, type, group, tag, NULL, request));
      break;
    case gather:
      CHECK_OK(dfcclGather(in, m == root ? out : NULL, count, type, root, group, tag, NULL, request));
      break;
    case scatter:
      CHECK_OK(dfcclScatter(m == root ? in : NULL, out, count, type, root, group, tag, NULL, request));
      break;
    case barrier:
      CHECK_OK(dfcclBarrier(group, tag, NULL, request));
      break;
    case message:
    case fromAny:
      /* A rank that does both, to itself, in either order. */
      for (int part = 0; part < 2; part++) {
        const int sends = (part == 0) == (rank % 2 == 0);
        request = &run->requests[run->count];
        if (sends && m == root) {
          CHECK_OK(dfcclSend(in, count, type, step->peer, group, tag, NULL, request));
          run->count++;
        } else if (!sends && m == step->peer) {
          if (step->kind == fromAny)
            CHECK_OK(dfcclRecvAny(out, count, type, &run->source, group, tag, request));
          else
            CHECK_OK(dfcclRecv(out, count, type, root, group, tag, NULL, request));
          run->count++;
        }
      }
      return;
    case allToAllV:
      CHECK_OK(dfcclAllToAllV(in, run->sends, NULL, out, run->recvs, NULL, type, group, tag, NULL, request));
      break;
    case allGatherV:
      CHECK_OK(dfcclAllGatherV(in, out, run->sends, NULL, type, group, tag, NULL, request));
      break;
    case reduceScatterV:
      CHECK_OK(dfcclReduceScatterV(in, out, run->sends, type, dfcclSum, group, tag, NULL, request));
      break;
    case gatherV:
      CHECK_OK(dfcclGatherV(in, m == root ? out : NULL, run->sends, NULL, type, root, group, tag, NULL, request));
      break;
    case scatterV:
      CHECK_OK(dfcclScatterV(m == root ? in : NULL, run->sends, NULL, out, type, root, group, tag, NULL, request));
      break;
    default:
      submit_counted(plan, s, ctx, run);
      return;
  }
  run->count++;
}

#endif
