/* What the tests need to run as a process of qemu-xtensa: Linux' system calls instead of a board, the parts of a C library that they use,
 * and the arithmetic that Debian's libgcc for lx106 lacks. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRITE = 13, EXIT = 118, ABORTED = 134, HEAP_BYTES = 1 << 20, LINE_BYTES = 1 << 17, STDOUT = 1 };

int main(void);

static char **environment;

static long call(long number, long first, long second, long third)
{
    register long a2 __asm__("a2") = number;
    register long a6 __asm__("a6") = first;
    register long a3 __asm__("a3") = second;
    register long a4 __asm__("a4") = third;
    __asm__ volatile("syscall" : "+r"(a2) : "r"(a6), "r"(a3), "r"(a4) : "memory");
    return a2;
}

/* The stack begins with the number of arguments, the arguments and NULL, and the environment. */
__attribute__((used, noreturn)) static void begin(long *stack)
{
    environment = (char **)(stack + 1 + *stack + 1);
    exit(main());
}

__asm__(".text\n"
        ".align 4\n"
        ".globl _start\n"
        "_start:\n"
        "mov a2, a1\n"
        "movi a3, -16\n"
        "and a1, a1, a3\n"
        "call0 begin\n");

/* --- stdlib.h --- */

void exit(int code)
{
    for (;;)
        call(EXIT, code, 0, 0);
}

void abort(void)
{
    exit(ABORTED);
}

char *getenv(const char *name)
{
    size_t n = strlen(name);
    char **one;
    for (one = environment; *one; one++)
        if (strncmp(*one, name, n) == 0 && (*one)[n] == '=')
            return *one + n + 1;
    return NULL;
}

/* The tests free what they have taken last. */
static uint64_t heap[HEAP_BYTES / sizeof(uint64_t)];
static size_t heap_used;

void *malloc(size_t n)
{
    uint64_t *memory = heap + heap_used;
    size_t units = (n + sizeof *heap - 1) / sizeof *heap;
    if (units > sizeof heap / sizeof *heap - heap_used)
        return NULL;
    heap_used += units;
    return memory;
}

void free(void *memory)
{
    if (memory)
        heap_used = (size_t)((uint64_t *)memory - heap);
}

long atol(const char *digits)
{
    long n = 0;
    for (; *digits >= '0' && *digits <= '9'; digits++)
        n = n * 10 + (*digits - '0');
    return n;
}

/* --- stdio.h --- */

struct text {
    char *at;
    size_t size, n;
};

static void put(struct text *text, char c)
{
    if (text->n + 1 < text->size)
        text->at[text->n] = c;
    text->n++;
}

static void put_number(struct text *text, unsigned long long n, int width)
{
    char digits[20];
    int count = 0;
    do
        digits[count++] = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    for (; width > count; width--)
        put(text, '0');
    while (count > 0)
        put(text, digits[--count]);
}

/* %s, %.*s, %c, %u, %d and %zu, %lu, %llu and so on, with a width that zeros fill. */
int vsnprintf(char *at, size_t size, const char *format, va_list values)
{
    struct text text = {at, size, 0};
    for (; *format; format++) {
        int width = 0, most = -1, longs = 0;
        if (*format != '%') {
            put(&text, *format);
            continue;
        }
        format++;
        for (; *format >= '0' && *format <= '9'; format++)
            width = width * 10 + (*format - '0');
        if (strncmp(format, ".*", 2) == 0) {
            most = va_arg(values, int);
            format += 2;
        }
        for (; *format == 'l' || *format == 'z'; format++)
            longs++;
        if (*format == 's') {
            const char *s = va_arg(values, const char *);
            for (; most != 0 && *s; s++, most--)
                put(&text, *s);
        } else if (*format == 'd') {
            long long n = longs == 2 ? va_arg(values, long long) : va_arg(values, long);
            if (n < 0)
                put(&text, '-');
            put_number(&text, (unsigned long long)(n < 0 ? -n : n), width);
        } else if (*format == 'u') {
            put_number(&text, longs == 2 ? va_arg(values, unsigned long long) : va_arg(values, unsigned long), width);
        } else {
            abort();
        }
    }
    if (size > 0)
        at[text.n < size ? text.n : size - 1] = 0;
    return (int)text.n;
}

int snprintf(char *text, size_t size, const char *format, ...)
{
    va_list values;
    int n;
    va_start(values, format);
    n = vsnprintf(text, size, format, values);
    va_end(values);
    return n;
}

static int print(const char *format, va_list values)
{
    static char text[LINE_BYTES];
    int n = vsnprintf(text, sizeof text, format, values);
    call(WRITE, STDOUT, (long)text, n < (int)sizeof text ? n : (int)sizeof text - 1);
    return n;
}

int printf(const char *format, ...)
{
    va_list values;
    int n;
    va_start(values, format);
    n = print(format, values);
    va_end(values);
    return n;
}

int fprintf(FILE *file, const char *format, ...)
{
    va_list values;
    int n;
    (void)file;
    va_start(values, format);
    n = print(format, values);
    va_end(values);
    return n;
}

/* --- string.h --- */

int memcmp(const void *one, const void *two, size_t n)
{
    const unsigned char *a = one, *b = two;
    for (; n > 0; n--, a++, b++)
        if (*a != *b)
            return *a - *b;
    return 0;
}

void *memcpy(void *to, const void *from, size_t n)
{
    return memmove(to, from, n);
}

void *memmove(void *to, const void *from, size_t n)
{
    char *a = to;
    const char *b = from;
    if (a < b)
        while (n-- > 0)
            *a++ = *b++;
    else
        while (n-- > 0)
            a[n] = b[n];
    return to;
}

void *memset(void *to, int byte, size_t n)
{
    char *a = to;
    while (n-- > 0)
        *a++ = (char)byte;
    return to;
}

size_t strlen(const char *text)
{
    return strcspn(text, "");
}

size_t strcspn(const char *text, const char *ends)
{
    size_t n = 0;
    const char *end;
    for (; text[n]; n++)
        for (end = ends; *end; end++)
            if (*end == text[n])
                return n;
    return n;
}

char *strchr(const char *text, int c)
{
    for (; *text != (char)c; text++)
        if (!*text)
            return NULL;
    return (char *)text;
}

int strncmp(const char *one, const char *two, size_t n)
{
    for (; n > 0; n--, one++, two++)
        if (*one != *two || !*one)
            return (unsigned char)*one - (unsigned char)*two;
    return 0;
}

int strcmp(const char *one, const char *two)
{
    return strncmp(one, two, SIZE_MAX);
}

char *strcpy(char *to, const char *from)
{
    return memcpy(to, from, strlen(from) + 1);
}

char *strcat(char *to, const char *from)
{
    strcpy(to + strlen(to), from);
    return to;
}

char *strstr(const char *text, const char *part)
{
    size_t n = strlen(part);
    for (; strncmp(text, part, n) != 0; text++)
        if (!*text)
            return NULL;
    return (char *)text;
}

/* --- arithmetic --- */

uint32_t __udivsi3(uint32_t dividend, uint32_t divisor);
uint32_t __umodsi3(uint32_t dividend, uint32_t divisor);
int32_t __divsi3(int32_t dividend, int32_t divisor);
uint64_t __umulsidi3(uint32_t one, uint32_t two);
uint64_t __muldi3(uint64_t one, uint64_t two);
uint64_t __udivdi3(uint64_t dividend, uint64_t divisor);
uint64_t __umoddi3(uint64_t dividend, uint64_t divisor);

uint64_t __muldi3(uint64_t one, uint64_t two)
{
    uint64_t product = 0;
    for (; two != 0; two >>= 1, one <<= 1)
        if (two & 1)
            product += one;
    return product;
}

uint64_t __umulsidi3(uint32_t one, uint32_t two)
{
    return __muldi3(one, two);
}

static uint64_t divide(uint64_t dividend, uint64_t divisor, uint64_t *rest)
{
    uint64_t quotient = 0;
    int bit;
    *rest = 0;
    for (bit = 63; bit >= 0; bit--) {
        *rest = *rest << 1 | (dividend >> bit & 1);
        if (*rest >= divisor) {
            *rest -= divisor;
            quotient |= (uint64_t)1 << bit;
        }
    }
    return quotient;
}

uint32_t __udivsi3(uint32_t dividend, uint32_t divisor)
{
    uint64_t rest;
    return (uint32_t)divide(dividend, divisor, &rest);
}

uint32_t __umodsi3(uint32_t dividend, uint32_t divisor)
{
    uint64_t rest;
    divide(dividend, divisor, &rest);
    return (uint32_t)rest;
}

int32_t __divsi3(int32_t dividend, int32_t divisor)
{
    uint32_t quotient = __udivsi3((uint32_t)(dividend < 0 ? -dividend : dividend), (uint32_t)(divisor < 0 ? -divisor : divisor));
    return (int32_t)((dividend < 0) == (divisor < 0) ? quotient : 0 - quotient);
}

uint64_t __udivdi3(uint64_t dividend, uint64_t divisor)
{
    uint64_t rest;
    return divide(dividend, divisor, &rest);
}

uint64_t __umoddi3(uint64_t dividend, uint64_t divisor)
{
    uint64_t rest;
    divide(dividend, divisor, &rest);
    return rest;
}
