/* Operators of one's own, as MPI_Op_create makes them; part of dfccl.h. On CPUs.
 *
 *   static void longer(void* all, const void* next, size_t count, dfcclDataType_t type, void* user) { ... }
 *   dfcclRedOpCreate(3, longer, NULL, &op);
 *   dfcclAllReduce(send, recv, 1000, dfcclFloat64, op, group, 0, NULL, NULL);
 *
 * Wherever a reduction takes an operator: registered, through a group, uneven, in programs of one's own. */
#ifndef DFCCL_OPERATORS_H
#define DFCCL_OPERATORS_H

#ifndef DFCCL_H
#error "Include dfccl/dfccl.h, which includes this."
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Combines `count` elements of `next` into `accumulated`, one by one: accumulated[i] becomes accumulated[i] op next[i].
 * The two don't overlap and are aligned for the type. Must be associative and commutative, as ranks are taken in the
 * order and the groupings that are fastest; what a rank gets may differ where it is not. `type` is that of the
 * collective, and counts only by its size to a function that knows better: pairs of a float and an int, say, are
 * dfcclUint64. Called on any thread of the library's, by several at once; it must not call the library. */
typedef void (*dfcclReduceFunction_t)(void* accumulated, const void* next, size_t count, dfcclDataType_t type,
                                      void* user);

/* Makes operator `number`, 0 to DFCCL_MOST_OPERATORS - 1, for as long as the process lives. The number is what ranks
 * agree by: all ranks of a collective make the same operator under the same one, before they register or call it. Any
 * thread. dfcclInUse: this process has made another one under that number; making the same again is no mistake. */
#define DFCCL_MOST_OPERATORS 64
dfcclResult_t dfcclRedOpCreate(int number, dfcclReduceFunction_t function, void* user, dfcclRedOp_t* op);

/* The least, or the greatest, value with its place, as MPI_MINLOC and MPI_MAXLOC have them: elements are the two behind
 * each other, and of a type of 8 bytes to the library, dfcclUint64 say. So there is none of a double with its place. Of
 * equal values the one with the least place is taken, and a NaN before all others. */
typedef struct {
  float value;
  int32_t place;
} dfcclPlacedFloat_t;
typedef struct {
  int32_t value;
  int32_t place;
} dfcclPlacedInt_t;
typedef enum { dfcclMinPlacedFloat, dfcclMaxPlacedFloat, dfcclMinPlacedInt, dfcclMaxPlacedInt } dfcclPlacedOp_t;
/* Makes it as dfcclRedOpCreate does. */
dfcclResult_t dfcclRedOpCreatePlaced(int number, dfcclPlacedOp_t which, dfcclRedOp_t* op);

/* Tries it on examples: `count` elements, 1 to 64, of each two of which a op b must be b op a, and of each three
 * (a op b) op c must be a op (b op c): to the bit, but for dfcclFloat32 and dfcclFloat64, where 1e-5 and 1e-13 of the
 * greater result pass for rounding. dfcclInvalidArgument names the first elements for which that isn't so. */
dfcclResult_t dfcclRedOpCheck(dfcclRedOp_t op, dfcclDataType_t type, const void* examples, size_t count);

#ifdef __cplusplus
}
#endif
#endif
