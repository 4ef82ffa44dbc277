#ifndef NYALA_FREESTANDING_STDIO_H
#define NYALA_FREESTANDING_STDIO_H

#include <stdarg.h>
#include <stddef.h>

/* There is one output. */
typedef struct nyala_file FILE;
#define stdout ((FILE *)0)
#define stderr ((FILE *)0)

int fprintf(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
int printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
int snprintf(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int vsnprintf(char *text, size_t size, const char *format, va_list values) __attribute__((format(printf, 3, 0)));

#endif
