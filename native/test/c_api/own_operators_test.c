/* Operators of the caller's own: in every reduction, between threads and between processes. */
#include <math.h>

#include "c_api/joined_ranks.h"

enum { kRanks = 3, kMost = 600001 }; /* a third of it goes through rings between processes */

/* The least value and where it is, as MPI_MINLOC: of equal ones the first place. */
struct place {
  float value;
  int32_t where;
};

static void least_place(void* accumulated, const void* next, size_t count, dfcclDataType_t type, void* user) {
  struct place* all = accumulated;
  const struct place* other = next;
  CHECK(type == dfcclUint64 && *(const int*)user == 7);
  for (size_t i = 0; i < count; i++) {
    const int is_less =
        other[i].value < all[i].value || (other[i].value == all[i].value && other[i].where < all[i].where);
    if (is_less) all[i] = other[i];
  }
}

/* Of the greatest absolute value, with its sign; the positive one of two. */
static void longest(void* accumulated, const void* next, size_t count, dfcclDataType_t type, void* user) {
  double* all = accumulated;
  const double* other = next;
  CHECK(type == dfcclFloat64 && user == NULL && (size_t)all % sizeof(double) == 0 &&
        (size_t)other % sizeof(double) == 0);
  for (size_t i = 0; i < count; i++) {
    const double mine = all[i] < 0 ? -all[i] : all[i], its = other[i] < 0 ? -other[i] : other[i];
    if (its > mine || (its == mine && other[i] > all[i])) all[i] = other[i];
  }
}

static dfcclRedOp_t least, long_one;
static int seven = 7;

static void make_operators(void) {
  CHECK_OK(dfcclRedOpCreate(0, least_place, &seven, &least));
  CHECK_OK(dfcclRedOpCreate(DFCCL_MOST_OPERATORS - 1, longest, NULL, &long_one));
}

static struct place place_of(int rank, size_t i) {
  const struct place place = {(float)((i * 7 + (size_t)rank * 13) % 5), rank};
  return place;
}
static struct place least_of(size_t i) {
  struct place found = place_of(0, i);
  for (int r = 1; r < kRanks; r++)
    if (place_of(r, i).value < found.value) found = place_of(r, i);
  return found;
}
static int is_least(const struct place* places, size_t first, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const struct place expected = least_of(first + i);
    if (places[i].value != expected.value || places[i].where != expected.where) return 0;
  }
  return 1;
}

static void reduce_everything(int rank, dfcclRankCtx_t ctx, dfcclGroup_t group) {
  static const size_t counts[] = {1, 3, 1000, kMost / kRanks};
  struct place* const in = malloc((size_t)kMost * sizeof *in);
  struct place* const out = malloc((size_t)kMost * sizeof *out);
  for (size_t i = 0; i < kMost; i++) in[i] = place_of(rank, i);
  for (int c = 0; c < 4; c++) {
    const size_t count = counts[c];
    dfcclRequest_t request = NULL;
    CHECK_OK(dfcclAllReduce(in, out, count, dfcclUint64, least, group, 1, NULL, &request));
    CHECK_OK(dfcclWaitRun(request, 0));
    CHECK(is_least(out, 0, count));
    memset(out, 0, count * sizeof *out);
    CHECK_OK(dfcclReduce(in, out, count, dfcclUint64, least, 1, group, 2, NULL, &request));
    CHECK_OK(dfcclWaitRun(request, 0));
    CHECK(rank == 1 ? is_least(out, 0, count) : out[0].where == 0 && out[0].value == 0);
    CHECK_OK(dfcclReduceScatter(in, out, count, dfcclUint64, least, group, 3, NULL, &request));
    CHECK_OK(dfcclWaitRun(request, 0));
    CHECK(is_least(out, (size_t)rank * count, count));
    const size_t uneven[kRanks] = {count, 0, count / 2};
    CHECK_OK(dfcclReduceScatterV(in, out, uneven, dfcclUint64, least, group, 4, NULL, &request));
    CHECK_OK(dfcclWaitRun(request, 0));
    CHECK(is_least(out, rank == 0 ? 0 : count, uneven[rank]));
  }
  /* Registered, in place, and where no element is aligned. */
  char* bytes = NULL;
  CHECK_OK(dfcclAllocate((size_t)kMost * sizeof(double) + 1, (void**)&bytes, ctx));
  for (size_t i = 0; i < kMost; i++) {
    const double value = (i + (size_t)rank) % kRanks == 0 ? -(double)i - 1 : 0.5;
    memcpy(bytes + 1 + i * sizeof value, &value, sizeof value);
  }
  CHECK_OK(dfcclRegisterAllReduce(kMost, dfcclFloat64, long_one, 5, dfcclAllRanks(), 0, ctx));
  CHECK_OK(dfcclRunAllReduce(bytes + 1, bytes + 1, 5, NULL, NULL, ctx));
  CHECK_OK(dfcclWait(ctx));
  int are_right = 1;
  for (size_t i = 0; i < kMost; i++) {
    double value = 0;
    memcpy(&value, bytes + 1 + i * sizeof value, sizeof value);
    are_right &= value == (i == 0 ? -1 : -(double)i - 1);
  }
  CHECK(are_right);
  CHECK_OK(dfcclFree(bytes, (size_t)kMost * sizeof(double) + 1, ctx));
  free(in);
  free(out);
}

/* Values that are often equal, and some that are NaN. */
static dfcclPlacedFloat_t placed_float_of(int rank, size_t i) {
  const dfcclPlacedFloat_t placed = {i % 7 == (size_t)rank || i % 7 == 5 ? NAN : (float)((i + 5 * (size_t)rank) % 2),
                                     (int32_t)(100 - 10 * rank)};
  return placed;
}
static dfcclPlacedInt_t placed_int_of(int rank, size_t i) {
  const dfcclPlacedInt_t placed = {(int32_t)((i + 5 * (size_t)rank) % 2) - 1, (int32_t)(100 - 10 * rank)};
  return placed;
}
/* The last rank has the least place. */
static int float_winner(size_t i, int is_max) {
  int best = kRanks - 1;
  for (int r = kRanks - 2; r >= 0; r--) {
    const float mine = placed_float_of(r, i).value, its = placed_float_of(best, i).value;
    if (isnan(its) ? 0 : isnan(mine) ? 1 : is_max ? mine > its : mine < its) best = r;
  }
  return best;
}
static int int_winner(size_t i, int is_max) {
  int best = kRanks - 1;
  for (int r = kRanks - 2; r >= 0; r--) {
    const int32_t mine = placed_int_of(r, i).value, its = placed_int_of(best, i).value;
    if (is_max ? mine > its : mine < its) best = r;
  }
  return best;
}

static void reduce_placed(int rank, dfcclGroup_t group) {
  enum { kCount = 1001 };
  dfcclPlacedFloat_t floats[kCount], float_found[kCount];
  dfcclPlacedInt_t ints[kCount], int_found[kCount];
  for (size_t i = 0; i < kCount; i++) floats[i] = placed_float_of(rank, i), ints[i] = placed_int_of(rank, i);
  for (int is_max = 0; is_max < 2; is_max++) {
    dfcclRedOp_t of_floats = dfcclSum, of_ints = dfcclSum;
    CHECK_OK(dfcclRedOpCreatePlaced(10 + is_max, is_max ? dfcclMaxPlacedFloat : dfcclMinPlacedFloat, &of_floats));
    CHECK_OK(dfcclRedOpCreatePlaced(20 + is_max, is_max ? dfcclMaxPlacedInt : dfcclMinPlacedInt, &of_ints));
    CHECK_OK(dfcclRedOpCheck(of_floats, dfcclUint64, floats, 21));
    CHECK_OK(dfcclRedOpCheck(of_ints, dfcclInt64, ints, 21));
    dfcclRequest_t requests[2];
    CHECK_OK(dfcclAllReduce(floats, float_found, kCount, dfcclUint64, of_floats, group, 7, NULL, &requests[0]));
    CHECK_OK(dfcclAllReduce(ints, int_found, kCount, dfcclUint64, of_ints, group, 8, NULL, &requests[1]));
    CHECK_OK(dfcclWaitRuns(requests, 2, 0));
    int are_right = 1;
    for (size_t i = 0; i < kCount; i++) {
      const dfcclPlacedFloat_t of_float = placed_float_of(float_winner(i, is_max), i);
      const dfcclPlacedInt_t of_int = placed_int_of(int_winner(i, is_max), i);
      are_right &= memcmp(&of_float, &float_found[i], sizeof of_float) == 0;
      are_right &= memcmp(&of_int, &int_found[i], sizeof of_int) == 0;
    }
    CHECK(are_right);
  }
}

static void be_thread(int rank, void* world) {
  dfcclRankCtx_t ctx = NULL;
  dfcclGroup_t group = NULL;
  CHECK_OK(dfcclInitRank(world, rank, &ctx));
  CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &group, ctx));
  reduce_everything(rank, ctx, group);
  reduce_placed(rank, group);
  CHECK_OK(dfcclDestroy(ctx));
}

static void be_process(int rank, const char* job) {
  const struct joined_rank joined = join_rank(job, rank, kRanks, 0);
  make_operators();
  reduce_everything(rank, joined.ctx, joined.group);
  reduce_placed(rank, joined.group);
  leave_world(joined);
}

int main(void) {
  pass_as_processes("own-operators", kRanks, be_process);
  make_operators();
  dfcclWorld_t world = open_world(kRanks, 1);
  on_threads(kRanks, be_thread, world);
  CHECK_OK(dfcclWorldDestroy(world));
  return report();
}
