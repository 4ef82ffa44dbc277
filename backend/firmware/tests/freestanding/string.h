/* What the core and its tests take of a C library, for a compiler that comes without one (lx106.c has it). */
#ifndef NYALA_FREESTANDING_STRING_H
#define NYALA_FREESTANDING_STRING_H

#include <stddef.h>

int memcmp(const void *one, const void *two, size_t n);
void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
char *strcat(char *to, const char *from);
char *strchr(const char *text, int c);
int strcmp(const char *one, const char *two);
char *strcpy(char *to, const char *from);
size_t strcspn(const char *text, const char *ends);
size_t strlen(const char *text);
int strncmp(const char *one, const char *two, size_t n);
char *strstr(const char *text, const char *part);

#endif
