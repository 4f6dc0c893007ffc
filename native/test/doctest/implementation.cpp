// doctest itself, compiled once for all tests: it takes longer than most of them.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
