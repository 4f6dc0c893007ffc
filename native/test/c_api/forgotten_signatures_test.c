/* With places for a few signatures each rank forgets others than its peers do, at other times; runs of what one has
 * forgotten and another hasn't meet nevertheless, and in their order. */
#include "c_api/check.h"
#include "c_api/processes.h"

enum {
  kRanks = 3,
  kPlaces = 8,
  kOperations = 600,
  kOutstanding = 2,
  kMost = 4,
  kPatience = 60000000 /* microseconds */
};

struct operation {
  enum { message, reduction, broadcast } kind;
  int from, to;
  int count;
  uint64_t tag;
};

/* The same on every rank, which carries out those that it has a part in. */
static struct operation draw(unsigned* state, int ranks) {
  struct operation drawn;
  drawn.kind = next_random(state) % 4 < 2 ? message : next_random(state) % 2 == 0 ? reduction : broadcast;
  drawn.from = (int)(next_random(state) % (unsigned)ranks);
  drawn.to = (drawn.from + 1 + (int)(next_random(state) % (unsigned)(ranks - 1))) % ranks;
  drawn.count = 1 + (int)(next_random(state) % kMost);
  drawn.tag = next_random(state) % 3;
  return drawn;
}

static int value_of(int number, int rank, int i) { return 1000 * number + 10 * rank + i; }

struct outstanding {
  dfcclRequest_t request;
  int in[kMost], out[kMost], expected[kMost];
};

static void await(struct outstanding* run) {
  if (run->request == NULL) return;
  CHECK_OK(dfcclWaitRun(run->request, kPatience));
  run->request = NULL;
  CHECK(memcmp(run->out, run->expected, sizeof run->out) == 0);
}

static void begin(const struct operation* what, int number, int rank, int ranks, dfcclGroup_t group,
                  struct outstanding* run) {
  for (int i = 0; i < kMost; i++) {
    run->in[i] = value_of(number, rank, i);
    run->out[i] = run->expected[i] = -1;
  }
  for (int i = 0; i < what->count && !(what->kind == message && rank == what->from); i++) {
    run->expected[i] = what->kind == reduction ? 0 : value_of(number, what->from, i);
    for (int r = 0; r < ranks && what->kind == reduction; r++) run->expected[i] += value_of(number, r, i);
  }
  const size_t count = (size_t)what->count;
  if (what->kind == reduction) {
    CHECK_OK(dfcclAllReduce(run->in, run->out, count, dfcclInt32, dfcclSum, group, what->tag, NULL, &run->request));
  } else if (what->kind == broadcast) {
    CHECK_OK(dfcclBroadcast(run->in, run->out, count, dfcclInt32, what->from, group, what->tag, NULL, &run->request));
  } else if (rank == what->from) {
    CHECK_OK(dfcclSend(run->in, count, dfcclInt32, what->to, group, what->tag, NULL, &run->request));
  } else {
    CHECK_OK(dfcclRecv(run->out, count, dfcclInt32, what->from, group, what->tag, NULL, &run->request));
  }
}

/* Messages to oneself, each of a signature that no other rank has. */
static void fill_places(int count, int rank, dfcclGroup_t group, unsigned* state) {
  for (int i = 0; i < count; i++) {
    const uint64_t tag = 100 + next_random(state) % 30;
    const int in = (int)tag;
    int out = 0;
    dfcclRequest_t request = NULL;
    CHECK_OK(dfcclSend(&in, 1, dfcclInt32, rank, group, tag, NULL, NULL));
    CHECK_OK(dfcclRecv(&out, 1, dfcclInt32, rank, group, tag, NULL, &request));
    CHECK_OK(dfcclWaitRun(request, kPatience));
    CHECK(out == in);
  }
}

static void carry_out(dfcclRankCtx_t ctx, int rank, int ranks, unsigned seed) {
  unsigned common = seed * 2654435761u + 1, own = seed * 97 + (unsigned)rank * 31 + 5;
  struct outstanding runs[kOutstanding] = {{.request = NULL}};
  dfcclGroup_t group = NULL;
  CHECK_OK(dfcclGroupCreate(NULL, 0, seed, &group, ctx));
  for (int number = 0, begun = 0; number < kOperations && atomic_load(&failed) == 0; number++) {
    const struct operation what = draw(&common, ranks);
    if (what.kind == message && rank != what.from && rank != what.to) continue;
    struct outstanding* run = &runs[begun++ % kOutstanding];
    await(run);
    if (next_random(&own) % 4 == 0) fill_places(1 + (int)(next_random(&own) % 8), rank, group, &own);
    begin(&what, number, rank, ranks, group, run);
  }
  for (int i = 0; i < kOutstanding; i++) await(&runs[i]);
  CHECK_OK(dfcclGroupDestroy(group));
}

/* One forgets a message that the other has still registered, and takes it up again. */
static void on_one_side(dfcclRankCtx_t ctx, int rank, int ranks) {
  unsigned state = 3;
  dfcclGroup_t group = NULL;
  CHECK_OK(dfcclGroupCreate(NULL, 0, 77, &group, ctx));
  for (int number = 0; number < 3; number++) {
    const struct operation what = {.kind = message, .from = 0, .to = 1, .count = 2, .tag = 1};
    struct outstanding run = {.request = NULL};
    if (rank < 2) begin(&what, number, rank, ranks, group, &run);
    await(&run);
    if (rank == number % 2) fill_places(30, rank, group, &state);
  }
  CHECK_OK(dfcclGroupDestroy(group));
}

/* Sent, and forgotten, before anybody has asked for it; who asks for anybody's message finds it. */
static void from_anybody(dfcclRankCtx_t ctx, int rank) {
  enum { kSent = 4 };
  static int sent[kSent], received[kSent];
  unsigned state = 5;
  dfcclGroup_t group = NULL;
  CHECK_OK(dfcclGroupCreate(NULL, 0, 78, &group, ctx));
  /* The receiver's place is taken before it is needed: a message begins when both have come. */
  for (int i = 0; i < kSent; i++) {
    dfcclRequest_t request = NULL;
    int source = -1;
    if (rank == 0) {
      sent[i] = 40 + i;
      CHECK_OK(dfcclSend(&sent[i], 1, dfcclInt32, 1, group, 9, NULL, &request));
    } else if (rank == 1) {
      CHECK_OK(dfcclRecvAny(&received[i], 1, dfcclInt32, &source, group, 9, &request));
    }
    if (request != NULL) CHECK_OK(dfcclWaitRun(request, kPatience));
    if (rank == 1) CHECK(received[i] == 40 + i && source == 0);
    fill_places(rank == i % 2 ? 30 : 0, rank, group, &state);
  }
  CHECK_OK(dfcclGroupDestroy(group));
}

static void all(dfcclRankCtx_t ctx, int rank, int ranks) {
  on_one_side(ctx, rank, ranks);
  from_anybody(ctx, rank);
  for (unsigned seed = 1; seed <= 5; seed++) carry_out(ctx, rank, ranks, seed);
}

static void on_thread(int rank, void* world) {
  dfcclRankCtx_t ctx = NULL;
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  all(ctx, rank, kRanks);
  CHECK_OK(dfcclDestroy(ctx));
}

static uint64_t bytes_used(dfcclRankCtx_t ctx) {
  dfcclCounters_t counters = {.structSize = sizeof counters};
  CHECK_OK(dfcclGetCounters(&counters, ctx));
  return counters.arenaBytesUsed;
}

/* Both ranks are here. */
static void meet(struct line line) {
  say(line);
  hear(line);
}

static void in_process(dfcclRankCtx_t ctx, int rank, struct line line) {
  all(ctx, rank, 2);
  meet(line);
  const uint64_t before = bytes_used(ctx);
  meet(line);
  for (unsigned seed = 6; seed <= 15; seed++) carry_out(ctx, rank, 2, seed);
  meet(line);
  /* What both have forgotten, with as many runs, is nobody's; what they keep to copy by is the same again. */
  CHECK(bytes_used(ctx) <= 2 * before);
  meet(line);
}

int main(void) {
  struct rank_process ranks[2];
  collectives_of_processes = kPlaces;
  begin_ranks(ranks, in_process);
  for (int time = 0; time < 4; time++) {
    for (int rank = 0; rank < 2; rank++) hear(ranks[rank].parent);
    for (int rank = 0; rank < 2; rank++) say(ranks[rank].parent);
  }
  end_ranks(ranks);
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = kRanks;
  config.workers = 1;
  config.collectives = kPlaces;
  dfcclWorld_t world = NULL;
  CHECK_OK(dfcclWorldCreate(&config, &world));
  on_threads(kRanks, on_thread, world);
  CHECK_OK(dfcclWorldDestroy(world));
  return report();
}
