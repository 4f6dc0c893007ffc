/* Random programs of groups and runs, the same on every rank, carried out in an order that each rank draws by itself.
 */
#include <unistd.h>

#include "c_api/check.h"
#include "c_api/processes.h"

enum { kRanks = 4, kPrograms = 20, kSteps = 40, kMostCount = 60, kGroups = 5, kMostParts = 2 };

typedef enum { allReduce, broadcast, allGather, reduceScatter, allToAll, message, allToAllV, barrier, kKinds } kind_t;

struct step {
  kind_t kind;
  int group, root, peer; /* places in the group */
  size_t count;
  uint64_t tag;
};

struct plan {
  int ranks;
  int members[kGroups][kRanks], sizes[kGroups];
  struct step steps[kSteps];
};

static struct plan draw_plan(unsigned seed, int ranks) {
  struct plan plan = {.ranks = ranks};
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
/* What member `from` of an all-to-all-v sends to `to`. */
static size_t part_of(int step, int from, int to) { return (size_t)((step + 3 * from + 5 * to) % 4); }

struct run {
  int in[kMostCount * kRanks], out[kMostCount * kRanks];
  const int* result;
  size_t sends[kRanks], recvs[kRanks];
  dfcclRequest_t requests[kMostParts];
  int count;
};

static void submit(const struct plan* plan, int s, int rank, dfcclGroup_t group, struct run* run) {
  const struct step* step = &plan->steps[s];
  const int n = plan->sizes[step->group], m = place_in(plan, step->group, rank);
  const size_t count = step->count;
  run->count = 0;
  memset(run->out, 0xff, sizeof run->out);
  for (size_t i = 0; i < kMostCount * kRanks; i++) run->in[i] = value_of(s, m, i);
  dfcclRequest_t* request = &run->requests[run->count];
  const uint64_t tag = step->tag;
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
      CHECK_OK(dfcclAllReduce(in, out, count, dfcclInt32, dfcclSum, group, tag, NULL, request));
      break;
    case broadcast:
      CHECK_OK(dfcclBroadcast(run->in, run->out, count, dfcclInt32, step->root, group, tag, NULL, request));
      break;
    case allGather:
      CHECK_OK(dfcclAllGather(in, out, count, dfcclInt32, group, tag, NULL, request));
      break;
    case reduceScatter:
      CHECK_OK(dfcclReduceScatter(in, out, count, dfcclInt32, dfcclSum, group, tag, NULL, request));
      break;
    case allToAll:
      CHECK_OK(dfcclAllToAll(run->in, run->out, count, dfcclInt32, group, tag, NULL, request));
      break;
    case message:
      /* A rank that does both, to itself, in either order. */
      for (int part = 0; part < 2; part++) {
        const int sends = (part == 0) == (rank % 2 == 0);
        request = &run->requests[run->count];
        if (sends && m == step->root) {
          CHECK_OK(dfcclSend(run->in, count, dfcclInt32, step->peer, group, tag, NULL, request));
          run->count++;
        } else if (!sends && m == step->peer) {
          CHECK_OK(dfcclRecv(run->out, count, dfcclInt32, step->root, group, tag, NULL, request));
          run->count++;
        }
      }
      return;
    case allToAllV:
      for (int other = 0; other < n; other++) {
        run->sends[other] = part_of(s, m, other);
        run->recvs[other] = part_of(s, other, m);
      }
      CHECK_OK(
          dfcclAllToAllV(run->in, run->sends, NULL, run->out, run->recvs, NULL, dfcclInt32, group, tag, NULL, request));
      break;
    default:
      CHECK_OK(dfcclBarrier(group, tag, NULL, request));
      break;
  }
  run->count++;
}

static int is_right(const struct plan* plan, int s, int rank, const struct run* run) {
  const struct step* step = &plan->steps[s];
  const int n = plan->sizes[step->group], m = place_in(plan, step->group, rank);
  const size_t count = step->count;
  int wrong = 0;
  for (size_t i = 0; i < count; i++) {
    int sum = 0;
    switch (step->kind) {
      case allReduce:
        for (int other = 0; other < n; other++) sum += value_of(s, other, i);
        wrong += run->result[i] != sum;
        break;
      case broadcast:
        wrong += run->result[i] != value_of(s, step->root, i);
        break;
      case allGather:
        for (int other = 0; other < n; other++)
          wrong += run->result[(size_t)other * count + i] != value_of(s, other, i);
        break;
      case reduceScatter:
        for (int other = 0; other < n; other++) sum += value_of(s, other, (size_t)m * count + i);
        wrong += run->result[i] != sum;
        break;
      case allToAll:
        for (int other = 0; other < n; other++)
          wrong += run->result[(size_t)other * count + i] != value_of(s, other, (size_t)m * count + i);
        break;
      case message:
        wrong += m == step->peer && run->result[i] != value_of(s, step->root, i);
        break;
      default:
        break;
    }
  }
  if (step->kind == allToAllV) {
    const int* next = run->result;
    for (int from = 0; from < n; from++) {
      size_t offset = 0;
      for (int to = 0; to < m; to++) offset += part_of(s, from, to);
      for (size_t i = 0; i < part_of(s, from, m); i++) wrong += *next++ != value_of(s, from, offset + i);
    }
  }
  return wrong == 0;
}

/* Groups in one order, steps in another, some of them in batches, waits in a third; each rank draws its own. */
static void carry_out(dfcclRankCtx_t ctx, int rank, int ranks, unsigned seed) {
  const struct plan plan = draw_plan(seed, ranks);
  unsigned own = seed * 97 + (unsigned)rank * 31 + 5;
  dfcclGroup_t groups[kGroups] = {NULL};
  int order[kSteps];
  shuffle(order, kGroups, &own);
  for (int i = 0; i < kGroups; i++) {
    const int g = order[i];
    if (place_in(&plan, g, rank) < 0) continue;
    CHECK_OK(dfcclGroupCreate(plan.members[g], plan.sizes[g], (uint64_t)g, &groups[g], ctx));
  }
  struct run* runs = calloc(kSteps, sizeof *runs);
  shuffle(order, kSteps, &own);
  int left = 0; /* of a batch */
  for (int i = 0; i < kSteps; i++) {
    if (left == 0 && next_random(&own) % 4 == 0) {
      left = 1 + (int)(next_random(&own) % 9);
      CHECK_OK(dfcclBatchBegin());
    }
    dfcclGroup_t group = groups[plan.steps[order[i]].group];
    if (group != NULL) submit(&plan, order[i], rank, group, &runs[order[i]]);
    if (left != 0 && --left == 0) CHECK_OK(dfcclBatchEnd(NULL));
  }
  if (left != 0) CHECK_OK(dfcclBatchEnd(NULL));
  shuffle(order, kSteps, &own);
  for (int i = 0; i < kSteps; i++) {
    struct run* run = &runs[order[i]];
    for (int part = 0; part < run->count; part++) CHECK_OK(dfcclWaitRun(run->requests[part], 0));
    if (groups[plan.steps[order[i]].group] != NULL) CHECK(is_right(&plan, order[i], rank, run));
  }
  shuffle(order, kGroups, &own);
  for (int i = 0; i < kGroups; i++) CHECK_OK(dfcclGroupDestroy(groups[order[i]]));
  free(runs);
}

static void on_thread(int rank, void* world) {
  dfcclRankCtx_t ctx = NULL;
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  for (unsigned seed = 1; seed <= kPrograms; seed++) carry_out(ctx, rank, kRanks, seed);
  CHECK_OK(dfcclDestroy(ctx));
}

/* With buffers that the other process can't reach. */
static void in_process(dfcclRankCtx_t ctx, int rank, struct line line) {
  (void)line;
  for (unsigned seed = 1; seed <= kPrograms; seed++) carry_out(ctx, rank, 2, seed);
}

int main(void) {
  struct rank_process ranks[2];
  begin_ranks(ranks, in_process);
  end_ranks(ranks);
  dfcclWorld_t world = open_world(kRanks, 1);
  on_threads(kRanks, on_thread, world);
  CHECK_OK(dfcclWorldDestroy(world));
  return report();
}
