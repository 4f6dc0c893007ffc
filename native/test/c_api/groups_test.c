/* Runs that are matched by their signature, on groups that ranks make and drop in orders of their own: random programs,
 * the same on every rank, carried out in an order that each rank draws by itself. */
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
  switch (step->kind) {
    case allReduce:
      CHECK_OK(dfcclAllReduce(run->in, run->out, count, dfcclInt32, dfcclSum, group, tag, NULL, request));
      break;
    case broadcast:
      CHECK_OK(dfcclBroadcast(run->in, run->out, count, dfcclInt32, step->root, group, tag, NULL, request));
      break;
    case allGather:
      CHECK_OK(dfcclAllGather(run->in, run->out, count, dfcclInt32, group, tag, NULL, request));
      break;
    case reduceScatter:
      CHECK_OK(dfcclReduceScatter(run->in, run->out, count, dfcclInt32, dfcclSum, group, tag, NULL, request));
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
        wrong += run->out[i] != sum;
        break;
      case broadcast:
        wrong += run->out[i] != value_of(s, step->root, i);
        break;
      case allGather:
        for (int other = 0; other < n; other++) wrong += run->out[(size_t)other * count + i] != value_of(s, other, i);
        break;
      case reduceScatter:
        for (int other = 0; other < n; other++) sum += value_of(s, other, (size_t)m * count + i);
        wrong += run->out[i] != sum;
        break;
      case allToAll:
        for (int other = 0; other < n; other++)
          wrong += run->out[(size_t)other * count + i] != value_of(s, other, (size_t)m * count + i);
        break;
      case message:
        wrong += m == step->peer && run->out[i] != value_of(s, step->root, i);
        break;
      default:
        break;
    }
  }
  if (step->kind == allToAllV) {
    const int* next = run->out;
    for (int from = 0; from < n; from++) {
      size_t offset = 0;
      for (int to = 0; to < m; to++) offset += part_of(s, from, to);
      for (size_t i = 0; i < part_of(s, from, m); i++) wrong += *next++ != value_of(s, from, offset + i);
    }
  }
  return wrong == 0;
}

/* Groups in one order, steps in another, waits in a third; each rank draws its own. */
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
  for (int i = 0; i < kSteps; i++) {
    dfcclGroup_t group = groups[plan.steps[order[i]].group];
    if (group != NULL) submit(&plan, order[i], rank, group, &runs[order[i]]);
  }
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

/* Two signatures, thousands of runs, each rank all of one before all of the other: more than there are slots. */
static void opposite(int rank, void* world) {
  enum { kRuns = 2000 };
  dfcclRankCtx_t ctx = NULL;
  dfcclGroup_t group = NULL;
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  const int both[] = {0, 1};
  CHECK_OK(dfcclGroupCreate(both, 2, 0, &group, ctx));
  float* in = malloc(2 * kRuns * sizeof *in);
  float* out = calloc(2 * kRuns, sizeof *out);
  int refused = 0;
  for (int half = 0; half < 2; half++) {
    const uint64_t tag = (uint64_t)(rank == 0 ? half : 1 - half);
    for (int i = 0; i < kRuns; i++) {
      float* at = &in[tag * kRuns + (uint64_t)i];
      *at = (float)i;
      refused += dfcclAllReduce(at, out + (at - in), 1, dfcclFloat32, dfcclSum, group, tag, NULL, NULL) != dfcclSuccess;
    }
  }
  CHECK(refused == 0);
  CHECK_OK(dfcclWait(ctx));
  int wrong = 0;
  for (int i = 0; i < 2 * kRuns; i++) wrong += out[i] != 2.0f * (float)(i % kRuns);
  CHECK(wrong == 0);
  CHECK_OK(dfcclDestroy(ctx)); /* with its group */
  free(in);
  free(out);
}

/* More counts than a rank's tables hold, in an order of its own; what is unused is forgotten. */
static void many_counts(int rank, void* world) {
  enum { kCounts = 2000, kAtOnce = 50 };
  dfcclRankCtx_t ctx = NULL;
  dfcclGroup_t group = NULL;
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &group, ctx));
  static float in[kRanks][kCounts], out[kRanks][kAtOnce][kCounts];
  dfcclCounters_t counters = {.structSize = sizeof counters};
  uint64_t memory = 0;
  for (int i = 0; i < kCounts; i++) in[rank][i] = (float)(rank + i);
  for (int lap = 0; lap < 3; lap++) {
    /* The counts of a window at once, by half of the ranks in one order and by half in another. */
    int wrong = 0;
    for (int from = 0; from < kCounts; from += kAtOnce) {
      dfcclRequest_t requests[kAtOnce];
      for (int i = 0; i < kAtOnce; i++) {
        const int k = from + (i * (rank % 2 == 0 ? 1 : 7)) % kAtOnce;
        CHECK_OK(dfcclAllReduce(in[rank], out[rank][k - from], (size_t)k, dfcclFloat32, dfcclSum, group, 0, NULL,
                                &requests[i]));
        if (i % 10 == 9) CHECK_OK(dfcclPoll(NULL, ctx));
      }
      CHECK_OK(dfcclWaitRuns(requests, kAtOnce, 0));
      for (int k = from; k < from + kAtOnce; k++)
        for (int i = 0; i < k; i++) wrong += out[rank][k - from][i] != (float)(6 + 4 * i);
    }
    CHECK(wrong == 0);
    CHECK_OK(dfcclGetCounters(&counters, ctx));
    if (lap == 0) memory = counters.collectiveBytes;
    CHECK(counters.collectiveBytes <= memory + memory / 10);
  }
  CHECK_OK(dfcclGroupDestroy(group));
  CHECK_OK(dfcclDestroy(ctx));
}

/* Hundreds of groups, made, used and dropped; two of the same ranks at a time. */
static void come_and_go(int rank, void* world) {
  dfcclRankCtx_t ctx = NULL;
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  for (int round = 0; round < 100; round++) {
    dfcclGroup_t groups[2];
    dfcclRequest_t requests[2];
    float in[2] = {1, 2}, out[2] = {0, 0};
    const int first = (rank + round) % 2;
    for (int i = 0; i < 2; i++) {
      const int which = i == 0 ? first : 1 - first;
      CHECK_OK(dfcclGroupCreate(NULL, 0, (uint64_t)which, &groups[which], ctx));
      CHECK_OK(
          dfcclAllReduce(&in[which], &out[which], 1, dfcclFloat32, dfcclSum, groups[which], 0, NULL, &requests[which]));
    }
    CHECK_OK(dfcclWaitRun(requests[1 - first], 0));
    CHECK_OK(dfcclGroupDestroy(groups[1 - first]));
    CHECK_OK(dfcclWaitRun(requests[first], 0));
    CHECK_OK(dfcclGroupDestroy(groups[first]));
    CHECK(out[0] == kRanks && out[1] == 2 * kRanks);
  }
  dfcclCounters_t counters = {.structSize = sizeof counters};
  CHECK_OK(dfcclGetCounters(&counters, ctx));
  CHECK(counters.collectiveBytes == 0);
  CHECK_OK(dfcclDestroy(ctx));
}

/* Colours and keys; and a rank that wants no part. */
static void split(int rank, void* world) {
  dfcclRankCtx_t ctx = NULL;
  dfcclGroup_t all = NULL, part = NULL;
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  CHECK_OK(dfcclGroupCreate(NULL, 0, 3, &all, ctx));
  for (int round = 0; round < 3; round++) {
    const int colour = rank == kRanks - 1 ? -1 : rank % 2;
    CHECK_OK(dfcclGroupSplit(all, colour, -rank, 0, &part));
    CHECK((part == NULL) == (colour < 0));
    if (part == NULL) continue;
    int place = -1, size = -1;
    CHECK_OK(dfcclGroupGetRank(&place, part));
    CHECK_OK(dfcclGroupGetRankCount(&size, part));
    CHECK(size == (colour == 0 ? 2 : 1) && place == (rank == 0 ? 1 : 0));
    int one = 1, sum = 0;
    dfcclRequest_t request;
    CHECK_OK(dfcclAllReduce(&one, &sum, 1, dfcclInt32, dfcclSum, part, 0, NULL, &request));
    CHECK_OK(dfcclWaitRun(request, 0));
    CHECK(sum == size);
    CHECK_OK(dfcclGroupDestroy(part));
  }
  CHECK_OK(dfcclGroupDestroy(all));
  CHECK_OK(dfcclDestroy(ctx));
}

static void add_one(void* count, dfcclResult_t status) {
  if (status == dfcclSuccess) atomic_fetch_add((atomic_int*)count, 1);
}

/* One thread drives two ranks: what requests say before, at and after the end. */
static void requests(dfcclWorld_t world) {
  dfcclRankCtx_t ctx[2];
  dfcclGroup_t group[2];
  dfcclRequest_t first[2], second[2];
  float in[2] = {3, 4}, out[2] = {0, 0};
  const int both[] = {0, 1};
  for (int r = 0; r < 2; r++) {
    CHECK_OK(dfcclInitRank(world, r, &ctx[r]));
    CHECK_OK(dfcclGroupCreate(both, 2, 0, &group[r], ctx[r]));
  }
  atomic_int called = 0;
  int isOver = -1, index = -1;
  CHECK_OK(dfcclAllReduce(&in[0], &out[0], 1, dfcclFloat32, dfcclSum, group[0], 1, NULL, &first[0]));
  CHECK_OK(dfcclTestRun(first[0], &isOver));
  CHECK(isOver == 0);
  CHECK(dfcclGroupDestroy(group[0]) == dfcclInUse);
  CHECK(dfcclWaitRun(first[0], 20000) == dfcclTimeout);
  CHECK(strstr(dfcclGetLastError(), "all-reduce of 1 float32, sum, tag 1") != NULL);
  CHECK(strstr(dfcclGetLastError(), "rank 1 has not registered it") != NULL);
  CHECK_OK(dfcclNotifyRun(first[0], add_one, &called));
  CHECK(dfcclNotifyRun(first[0], add_one, &called) == dfcclInUse);
  CHECK_OK(dfcclAllReduce(&in[1], &out[1], 1, dfcclFloat32, dfcclSum, group[1], 1, NULL, &first[1]));
  CHECK_OK(dfcclWaitRuns(first, 2, 0));
  CHECK(out[0] == 7 && out[1] == 7 && atomic_load(&called) == 1);
  CHECK(dfcclWaitRun(first[0], 0) == dfcclClosed);
  CHECK(dfcclFreeRequest(first[1]) == dfcclClosed);
  /* The second is over first. */
  for (int r = 0; r < 2; r++)
    CHECK_OK(dfcclAllReduce(&in[r], &out[r], 1, dfcclFloat32, dfcclMax, group[r], 2, NULL, &second[r]));
  CHECK_OK(dfcclAllReduce(&in[0], &out[0], 1, dfcclFloat32, dfcclMin, group[0], 3, NULL, &first[0]));
  const dfcclRequest_t any[] = {NULL, first[0], second[0]};
  CHECK_OK(dfcclWaitAnyRun(any, 3, 0, &index));
  CHECK(index == 2);
  CHECK_OK(dfcclWaitAnyRun(any, 1, 0, &index));
  CHECK(index == -1);
  CHECK_OK(dfcclFreeRequest(second[1]));
  CHECK_OK(dfcclFreeRequest(first[0])); /* its run goes on */
  CHECK_OK(dfcclAllReduce(&in[1], &out[1], 1, dfcclFloat32, dfcclMin, group[1], 3, NULL, NULL));
  CHECK_OK(dfcclWaitAll(ctx, 2));
  CHECK(out[0] == 3 && out[1] == 3);
  for (int r = 0; r < 2; r++) CHECK_OK(dfcclDestroy(ctx[r]));
}

/* What a group has in flight ends on all its members, and nothing new begins. */
static void aborts(dfcclWorld_t world) {
  dfcclRankCtx_t ctx[2];
  dfcclGroup_t group[2], other[2];
  dfcclRequest_t given_up, kept[2], alone;
  float in[2] = {3, 4}, out[2] = {0, 0};
  const int both[] = {0, 1};
  for (int r = 0; r < 2; r++) {
    CHECK_OK(dfcclInitRank(world, r, &ctx[r]));
    CHECK_OK(dfcclGroupCreate(both, 2, 0, &group[r], ctx[r]));
    CHECK_OK(dfcclGroupCreate(both, 2, 1, &other[r], ctx[r]));
  }
  CHECK_OK(dfcclAllReduce(&in[0], &out[0], 1, dfcclFloat32, dfcclSum, group[0], 1, NULL, &given_up));
  CHECK_OK(dfcclAllReduce(&in[0], &out[0], 1, dfcclFloat32, dfcclSum, other[0], 1, NULL, &kept[0]));
  CHECK_OK(dfcclSend(&in[0], 1, dfcclFloat32, 0, group[0], 1, NULL, &alone));
  CHECK(dfcclDestroy(ctx[0]) == dfcclInUse);
  CHECK_OK(dfcclGroupAbort(group[0]));
  CHECK(dfcclWaitRun(given_up, 0) == dfcclAborted);
  CHECK(dfcclWaitRun(alone, 0) == dfcclAborted);
  CHECK(dfcclAllReduce(&in[0], &out[0], 1, dfcclFloat32, dfcclSum, group[0], 2, NULL, NULL) == dfcclAborted);
  CHECK_OK(dfcclAllReduce(&in[1], &out[1], 1, dfcclFloat32, dfcclSum, other[1], 1, NULL, &kept[1]));
  CHECK_OK(dfcclWaitRuns(kept, 2, 0));
  CHECK(out[0] == 7 && out[1] == 7);
  for (int r = 0; r < 2; r++) {
    CHECK_OK(dfcclGroupDestroy(group[r]));
    CHECK_OK(dfcclDestroy(ctx[r]));
  }
}

/* Each rank's counts, and where they lie. */
static void uneven(int rank, void* world) {
  dfcclRankCtx_t ctx = NULL;
  dfcclGroup_t group = NULL;
  dfcclRequest_t r[4];
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &group, ctx));
  const size_t counts[kRanks] = {2, 0, 3, 1};
  const size_t places[kRanks] = {5, 0, 1, 8};
  int own[3], gathered[10], reduced[3] = {0}, all[6], rooted[6], scattered[3];
  for (int i = 0; i < 3; i++) own[i] = 10 * rank + i;
  for (int i = 0; i < 6; i++) all[i] = rank + i;
  memset(gathered, 0xff, sizeof gathered);
  CHECK_OK(dfcclAllGatherV(own, gathered, counts, places, dfcclInt32, group, 0, NULL, &r[0]));
  CHECK_OK(dfcclReduceScatterV(all, reduced, counts, dfcclInt32, dfcclSum, group, 0, NULL, &r[1]));
  CHECK_OK(dfcclGatherV(own, rooted, counts, NULL, dfcclInt32, 2, group, 0, NULL, &r[2]));
  CHECK_OK(dfcclScatterV(all, counts, NULL, scattered, dfcclInt32, 1, group, 0, NULL, &r[3]));
  CHECK_OK(dfcclWaitRuns(r, 4, 0));
  const int expected[10] = {-1, 20, 21, 22, -1, 0, 1, -1, 30, -1};
  CHECK(memcmp(gathered, expected, sizeof expected) == 0);
  const int begin[kRanks] = {0, 2, 2, 5};
  for (int i = 0; i < (int)counts[rank]; i++) {
    CHECK(reduced[i] == 6 + 4 * (begin[rank] + i));
    CHECK(scattered[i] == 1 + begin[rank] + i);
  }
  const int in_order[6] = {0, 1, 20, 21, 22, 30};
  CHECK(rank != 2 || memcmp(rooted, in_order, sizeof in_order) == 0);
  CHECK_OK(dfcclGroupDestroy(group));
  CHECK_OK(dfcclDestroy(ctx));
}

int main(void) {
  struct rank_process ranks[2];
  begin_ranks(ranks, in_process);
  end_ranks(ranks);
  dfcclWorld_t world = open_world(kRanks, 1);
  on_threads(kRanks, on_thread, world);
  on_threads(2, opposite, world);
  on_threads(kRanks, many_counts, world);
  on_threads(kRanks, come_and_go, world);
  on_threads(kRanks, split, world);
  on_threads(kRanks, uneven, world);
  requests(world);
  aborts(world);
  CHECK_OK(dfcclWorldDestroy(world));
  return report();
}
