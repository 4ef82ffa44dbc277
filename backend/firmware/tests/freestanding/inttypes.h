#ifndef NYALA_FREESTANDING_INTTYPES_H
#define NYALA_FREESTANDING_INTTYPES_H

#include <stdint.h>

#define PRIu64 "llu"

#endif
