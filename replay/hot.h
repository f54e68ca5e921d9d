#pragma once

// How the compiler is to place the functions of the engine: what happens in nearly every call
// becomes one piece of code; what is rare stays out of its way.

#define RUBATO_HOT [[gnu::always_inline]] inline
#define RUBATO_RARE [[gnu::noinline]]
