// Argument records of the graph's own kernels, shared by GLSL and C++.
#ifndef TESSERA_GRAPH_NODE_RECORDS_H
#define TESSERA_GRAPH_NODE_RECORDS_H

#ifdef __cplusplus
#include <cstdint>
namespace tessera::detail {
using std::uint64_t;
using uint = std::uint32_t;
#endif

// Latches whether a body runs and writes the group counts of its dispatches. Addresses are 0 where a part is absent.
struct GateRecord {
  uint64_t predicate;   // slot of the predicate's table
  uint64_t parent;      // word of the enclosing body
  uint64_t former;      // word of the former round
  uint64_t current;     // word that the next round reads
  uint64_t word;        // word that the body reads
  uint64_t geometry;    // three group counts per dispatch
  uint64_t groups;      // where they go, or zeros
  uint64_t iterations;  // slot of the round counter's table
  uint count;           // dispatches
  uint round;           // rounds before this one
};

// Copies words. Both tables have one chunk.
struct CopyWordsRecord {
  uint64_t source;  // slot
  uint64_t target;  // slot
  uint64_t count;   // words
};

// Repeats a word. The table has one chunk.
struct FillWordsRecord {
  uint64_t target;  // slot
  uint64_t count;   // words
  uint word;
  uint reserved;
};

#ifdef __cplusplus
static_assert(sizeof(GateRecord) == 72 && sizeof(CopyWordsRecord) == 24 && sizeof(FillWordsRecord) == 24);
}  // namespace tessera::detail
#else
#endif
#endif
