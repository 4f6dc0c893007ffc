/* What the steps of random programs (group_steps.h) must give. */
#ifndef DFCCL_TEST_GROUP_RESULTS_H
#define DFCCL_TEST_GROUP_RESULTS_H

#include "c_api/group_steps.h"

/* Elements of the result that member m has of a step. */
static size_t result_length(const struct step* step, int s, int n, int m) {
  const int isRoot = m == step->root;
  switch (step->kind) {
    case reduce:
      return isRoot ? step->count : 0;
    case allGather:
    case allToAll:
      return step->count * (size_t)n;
    case gather:
      return isRoot ? step->count * (size_t)n : 0;
    case message:
    case fromAny:
      return m == step->peer ? step->count : 0;
    case allToAllV: {
      size_t length = 0;
      for (int from = 0; from < n; from++) length += part_of(s, from, m);
      return length;
    }
    case allGatherV:
      return parts_before(s, 0, n);
    case gatherV:
      return isRoot ? parts_before(s, 0, n) : 0;
    case reduceScatterV:
    case scatterV:
      return part_of(s, 0, m);
    case barrier:
    case counted:
      return 0;
    default:
      return step->count;
  }
}

/* Of that, element i. */
static int result_at(const struct step* step, int s, int n, int m, size_t i) {
  const size_t count = step->count;
  switch (step->kind) {
    case allReduce:
    case reduce:
      return sum_at(s, n, i);
    case reduceScatter:
      return sum_at(s, n, (size_t)m * count + i);
    case reduceScatterV:
      return sum_at(s, n, parts_before(s, 0, m) + i);
    case allGather:
    case gather:
      return value_of(s, (int)(i / count), i % count);
    case allToAll:
      return value_of(s, (int)(i / count), (size_t)m * count + i % count);
    case scatter:
      return value_of(s, step->root, (size_t)m * count + i);
    case scatterV:
      return value_of(s, step->root, parts_before(s, 0, m) + i);
    case allGatherV:
    case gatherV:
    case allToAllV: {
      int from = 0;
      const int isOwn = step->kind == allToAllV;
      for (size_t part; i >= (part = isOwn ? part_of(s, from, m) : part_of(s, 0, from)); from++) i -= part;
      return value_of(s, from, (isOwn ? parts_before(s, from, m) : 0) + i);
    }
    default:
      return value_of(s, step->root, i);
  }
}

static int is_right(const struct plan* plan, int s, int rank, const struct run* run) {
  const struct step* step = &plan->steps[s];
  const int n = plan->sizes[step->group], m = place_in(plan, step->group, rank);
  const size_t length = result_length(step, s, n, m);
  int wrong = 0;
  for (size_t i = 0; i < length; i++) wrong += run->result[i] != result_at(step, s, n, m, i);
  if (step->kind == fromAny && m == step->peer) wrong += run->source != step->root;
  for (int k = 0; step->kind == counted && k < kCountedRuns; k++) {
    for (size_t i = 0; i < kMostCount; i++)
      wrong += run->counted->out[k][i] != (i < counted_of(step, k) ? sum_at(s, n, i) : -1);
  }
  if (wrong != 0) fprintf(stderr, "step %d of kind %d, rank %d: %d elements are wrong\n", s, step->kind, rank, wrong);
  return wrong == 0;
}

#endif
