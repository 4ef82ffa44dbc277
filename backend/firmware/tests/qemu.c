/* What picolibc needs to run the tests as a process of qemu-riscv32: Linux' system calls instead of a board. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WRITE = 64, EXIT = 93, ABORTED = 134, HEAP_BYTES = 1 << 20 };

extern char **environ;
extern char __bss_start[], __bss_end[];
int main(void);

static char heap[HEAP_BYTES];

static long call(long number, long first, long second, long third)
{
    register long a0 __asm__("a0") = first;
    register long a1 __asm__("a1") = second;
    register long a2 __asm__("a2") = third;
    register long a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
    return a0;
}

static int put(char c, FILE *file)
{
    (void)file;
    return call(WRITE, STDOUT_FILENO, (long)&c, 1) == 1 ? 0 : EOF;
}

static FILE out = FDEV_SETUP_STREAM(put, NULL, NULL, _FDEV_SETUP_WRITE);
FILE *const stdout = &out;
FILE *const stderr = &out;

void _exit(int code)
{
    for (;;)
        call(EXIT, code, 0, 0);
}

void abort(void)
{
    _exit(ABORTED);
}

void *sbrk(intptr_t bytes)
{
    static intptr_t used;
    if (bytes > HEAP_BYTES - used || used + bytes < 0)
        return (void *)-1;
    used += bytes;
    return heap + used - bytes;
}

/* Variables without a value begin in a page that was loaded with bytes of the file. The stack begins with the number of arguments, the arguments and NULL, and the environment. */
__attribute__((used)) static void begin(long *stack)
{
    memset(__bss_start, 0, (size_t)(__bss_end - __bss_start));
    environ = (char **)(stack + 1 + *stack + 1);
    exit(main());
}

__asm__(".globl _start\n"
        "_start:\n"
        ".option push\n"
        ".option norelax\n"
        "la gp, __global_pointer$\n"
        ".option pop\n"
        "la tp, __tls_base\n"
        "mv a0, sp\n"
        "andi sp, sp, -16\n"
        "call begin\n");
