/* What the core takes of a C library, for a compiler that comes without one. */
#ifndef NYALA_FREESTANDING_STRING_H
#define NYALA_FREESTANDING_STRING_H

#include <stddef.h>

int memcmp(const void *one, const void *two, size_t n);
void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
char *strchr(const char *text, int c);
int strcmp(const char *one, const char *two);
size_t strlen(const char *text);

#endif
