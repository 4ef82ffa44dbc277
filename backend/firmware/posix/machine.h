/* The washing machine as files and commands. */
#ifndef NYALA_MACHINE_H
#define NYALA_MACHINE_H

#include <stdbool.h>

/* Into a file, or by a command of sh; one of them is NULL. False: it is not known to have happened. */
bool machine_relay(const char *file, const char *command, bool on);

struct contact {
    /* NULL: there is none. */
    const char *file;
    bool closed, seen;
};

/* Looks at it; true when it has become another. It counts when it was seen twice. */
bool contact_changed(struct contact *contact);

#endif
