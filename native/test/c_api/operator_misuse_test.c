/* Operators that can't be, or that aren't there; and operators that are none, which examples show. */
#include "c_api/misuse.h"

static void difference(void* accumulated, const void* next, size_t count, dfcclDataType_t type, void* user) {
  (void)type, (void)user;
  for (size_t i = 0; i < count; i++) ((int32_t*)accumulated)[i] -= ((const int32_t*)next)[i];
}

/* Of two numbers the mean is as good in either order, but not of three. */
static void middle(void* accumulated, const void* next, size_t count, dfcclDataType_t type, void* user) {
  (void)type, (void)user;
  for (size_t i = 0; i < count; i++)
    ((double*)accumulated)[i] = (((double*)accumulated)[i] + ((const double*)next)[i]) / 2;
}

static void greatest(void* accumulated, const void* next, size_t count, dfcclDataType_t type, void* user) {
  int32_t* all = accumulated;
  const int32_t* other = next;
  (void)type, (void)user;
  for (size_t i = 0; i < count; i++) all[i] = other[i] > all[i] ? other[i] : all[i];
}

/* As good as associative: what differs is rounding. */
static void add(void* accumulated, const void* next, size_t count, dfcclDataType_t type, void* user) {
  (void)user;
  for (size_t i = 0; i < count; i++) {
    if (type == dfcclFloat32) ((float*)accumulated)[i] += ((const float*)next)[i];
    if (type == dfcclFloat64) ((double*)accumulated)[i] += ((const double*)next)[i];
  }
}

static int says(const char* words) { return strstr(dfcclGetLastError(), words) != NULL; }

static void making(void) {
  dfcclRedOp_t op = dfcclSum, again = dfcclSum;
  int user = 0;
  const struct {
    const char* name;
    int number;
    dfcclReduceFunction_t function;
    dfcclRedOp_t* op;
  } wrong[] = {{"a negative number", -1, greatest, &op},
               {"a number too many", DFCCL_MOST_OPERATORS, greatest, &op},
               {"the greatest number", INT_MAX, greatest, &op},
               {"no function", 1, NULL, &op},
               {"nowhere to put it", 1, greatest, NULL}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    mark();
    expect_refused("RedOpCreate", wrong[i].name, dfcclInvalidArgument,
                   dfcclRedOpCreate(wrong[i].number, wrong[i].function, NULL, wrong[i].op));
  }
  CHECK(op == dfcclSum);
  CHECK_OK(dfcclRedOpCreate(0, greatest, NULL, &op));
  CHECK_OK(dfcclRedOpCreate(0, greatest, NULL, &again));
  CHECK(again == op);
  mark();
  expect_refused("RedOpCreate", "another function", dfcclInUse, dfcclRedOpCreate(0, difference, NULL, &again));
  mark();
  expect_refused("RedOpCreate", "other data", dfcclInUse, dfcclRedOpCreate(0, greatest, &user, &again));
  CHECK(says("another number"));
}

static void checking(void) {
  const int32_t numbers[] = {0, 1, 2};
  const double doubles[] = {1, 1, 4};
  dfcclRedOp_t good, minus, mean;
  CHECK_OK(dfcclRedOpCreate(0, greatest, NULL, &good));
  CHECK_OK(dfcclRedOpCreate(1, difference, NULL, &minus));
  CHECK_OK(dfcclRedOpCreate(2, middle, NULL, &mean));
  CHECK_OK(dfcclRedOpCheck(good, dfcclInt32, numbers, 3));
  const float tenths[] = {0.1F, 0.2F, 0.3F, 0.7F}, far_apart[] = {1e8F, 1, -1e8F};
  const double finer[] = {0.1, 0.2, 0.3, 0.7};
  dfcclRedOp_t sum;
  CHECK_OK(dfcclRedOpCreate(3, add, NULL, &sum));
  CHECK_OK(dfcclRedOpCheck(sum, dfcclFloat32, tenths, 4));
  CHECK_OK(dfcclRedOpCheck(sum, dfcclFloat64, finer, 4));
  CHECK(dfcclRedOpCheck(sum, dfcclFloat32, far_apart, 3) == dfcclInvalidArgument);
  CHECK(dfcclRedOpCheck(minus, dfcclInt32, numbers, 3) == dfcclInvalidArgument);
  CHECK(says("not commutative: a op b is not b op a, for examples 0, 1."));
  CHECK(dfcclRedOpCheck(mean, dfcclFloat64, doubles, 3) == dfcclInvalidArgument);
  CHECK(says("not associative") && says("for examples 0, 0, 2."));
  const struct {
    const char* name;
    int op, type;
    const void* examples;
    size_t count;
  } wrong[] = {{"one of the library's", dfcclSum, dfcclInt32, numbers, 3},
               {"one that nobody made", 100, dfcclInt32, numbers, 3},
               {"a negative op", -1, dfcclInt32, numbers, 3},
               {"a type that is none", (int)good, 12, numbers, 3},
               {"no examples", (int)good, dfcclInt32, NULL, 3},
               {"none of them", (int)good, dfcclInt32, numbers, 0},
               {"one too many", (int)good, dfcclInt32, numbers, 65}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    mark();
    expect_refused(
        "RedOpCheck", wrong[i].name, dfcclInvalidArgument,
        dfcclRedOpCheck((dfcclRedOp_t)wrong[i].op, (dfcclDataType_t)wrong[i].type, wrong[i].examples, wrong[i].count));
  }
}

/* Ready ones, of elements that they don't have. */
static void placed(void) {
  dfcclRedOp_t op = dfcclSum;
  uint64_t number = 0;
  CHECK_OK(dfcclRedOpCreatePlaced(60, dfcclMinPlacedInt, &op));
  CHECK_OK(dfcclRedOpCreatePlaced(60, dfcclMinPlacedInt, &op));
  mark();
  expect_refused("RedOpCreatePlaced", "a number that is taken", dfcclInUse,
                 dfcclRedOpCreatePlaced(60, dfcclMaxPlacedInt, &op));
  mark();
  expect_refused("RedOpCreatePlaced", "a number out of range", dfcclInvalidArgument,
                 dfcclRedOpCreatePlaced(64, dfcclMinPlacedInt, &op));
  for (int which = -1; which <= 4; which += 5) {
    mark();
    expect_refused("RedOpCreatePlaced", "one that there isn't", dfcclInvalidArgument,
                   dfcclRedOpCreatePlaced(61, (dfcclPlacedOp_t)which, &op));
  }
  mark();
  expect_refused("RedOpCreatePlaced", "nowhere to put it", dfcclInvalidArgument,
                 dfcclRedOpCreatePlaced(61, dfcclMinPlacedInt, NULL));
  CHECK_OK(dfcclRedOpCreatePlaced(60, dfcclMinPlacedInt, &op));
  dfcclWorld_t world = open_world(1, 0);
  dfcclRankCtx_t ctx = NULL;
  dfcclGroup_t group = NULL;
  CHECK_OK(dfcclInitRank(world, 0, &ctx));
  CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &group, ctx));
  mark();
  expect_refused("RedOpCheck", "elements without a place", dfcclInvalidArgument,
                 dfcclRedOpCheck(op, dfcclInt32, &number, 1));
  mark();
  expect_refused("AllReduce", "elements without a place", dfcclInvalidArgument,
                 dfcclAllReduce(&number, &number, 1, dfcclInt32, op, group, 0, NULL, NULL));
  mark();
  expect_refused("RegisterAllReduce", "elements without a place", dfcclInvalidArgument,
                 dfcclRegisterAllReduce(1, dfcclUint8, op, 1, dfcclAllRanks(), 0, ctx));
  CHECK_OK(dfcclDestroy(ctx));
  CHECK_OK(dfcclWorldDestroy(world));
}

/* Where operators go, one that this process hasn't made. */
static void unmade(void) {
  dfcclWorld_t world = open_world(1, 0);
  dfcclRankCtx_t ctx = NULL;
  dfcclGroup_t group = NULL;
  int32_t number = 3;
  CHECK_OK(dfcclInitRank(world, 0, &ctx));
  CHECK_OK(dfcclGroupCreate(NULL, 0, 0, &group, ctx));
  for (int op = 80; op <= 280; op += 40) {
    mark();
    expect_refused("AllReduce", "an op that nobody made", dfcclInvalidArgument,
                   dfcclAllReduce(&number, &number, 1, dfcclInt32, (dfcclRedOp_t)op, group, 0, NULL, NULL));
    mark();
    expect_refused("RegisterAllReduce", "an op that nobody made", dfcclInvalidArgument,
                   dfcclRegisterAllReduce(1, dfcclInt32, (dfcclRedOp_t)op, 1, dfcclAllRanks(), 0, ctx));
  }
  CHECK_OK(dfcclDestroy(ctx));
  CHECK_OK(dfcclWorldDestroy(world));
}

int main(void) {
  making();
  checking();
  placed();
  unmade();
  return report();
}
