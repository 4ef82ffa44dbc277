#ifndef NYALA_FREESTANDING_STDLIB_H
#define NYALA_FREESTANDING_STDLIB_H

#include <stddef.h>

void abort(void) __attribute__((noreturn));
long atol(const char *digits);
void exit(int code) __attribute__((noreturn));
void free(void *memory);
char *getenv(const char *name);
void *malloc(size_t n);

#endif
