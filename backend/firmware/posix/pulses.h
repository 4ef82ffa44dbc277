/* Coin pulses. A child process sends them, so that neither a slow disk nor a slow connection makes one longer. */
#ifndef NYALA_PULSES_H
#define NYALA_PULSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pulses {
    /* Coin contact, by a file or by a command of sh; both NULL: not wired. */
    const char *file, *command;
    pid_t child;
    /* Readable once the pulses are over; -1: none are being sent. */
    int fd;
};

/* Opens the contact: the program may have been killed while it was closed. */
void pulses_init(struct pulses *pulses);
/* Begins to send. False: nothing was sent. */
bool pulses_begin(struct pulses *pulses, uint32_t n, uint32_t width_ms, uint32_t gap_ms);
/* Call once fd is readable. False: it is not known how many pulses were sent. */
bool pulses_end(struct pulses *pulses);

#endif
