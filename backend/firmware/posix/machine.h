/* The washing machine as files and commands. */
#ifndef NYALA_MACHINE_H
#define NYALA_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

/* Switches an output by a file or by a command of sh, which gets 1 or 0 in that variable; one of them is NULL. False: the position of
 * the output is unknown. */
bool machine_switch(const char *file, const char *command, const char *variable, bool on);

struct contact {
    /* NULL: no contact is wired. */
    const char *file;
    /* How long a state must last before it counts. */
    uint32_t stable_ms;
    bool closed, seen;
    uint64_t since_ms;
};

/* Reads the contact; true if its state changed. */
bool contact_changed(struct contact *contact, uint64_t up_ms);

#endif
