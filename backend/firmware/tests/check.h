#ifndef NYALA_CHECK_H
#define NYALA_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(true_thing) \
    do { \
        if (!(true_thing)) { \
            fprintf(stderr, "%s:%d: %s: not so: %s\n", __FILE__, __LINE__, __func__, #true_thing); \
            exit(1); \
        } \
    } while (0)

/* Only this one with NYALA_TEST in the environment. */
#define RUN(test) \
    do { \
        const char *only = getenv("NYALA_TEST"); \
        if (!only || !strcmp(only, #test)) { \
            test(); \
            printf("ok %s\n", #test); \
        } \
    } while (0)

#endif
