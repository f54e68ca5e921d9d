#pragma once

// Placement of the engine's functions: the path of nearly every call is inlined into one piece of
// code, rare paths stay out of it.

#define RUBATO_HOT [[gnu::always_inline]] inline
#define RUBATO_RARE [[gnu::noinline]]
