#include "explorer.hpp"

namespace dfccl::test {

template Verdict explore<AllRules>(const Plan& plan, uint64_t seed);

}  // namespace dfccl::test
