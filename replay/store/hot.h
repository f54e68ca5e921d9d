#pragma once

// Code placement of the engine's functions: the path of nearly every call is inlined into one
// function, rare paths are kept out of it.

#define RUBATO_HOT [[gnu::always_inline]] inline
#define RUBATO_RARE [[gnu::noinline]]
