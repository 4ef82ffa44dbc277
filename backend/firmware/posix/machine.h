/* The washing machine as files and commands. */
#ifndef NYALA_MACHINE_H
#define NYALA_MACHINE_H

#include <stdbool.h>

/* Switches the relay by a file or by a command of sh; one of them is NULL. False: the relay's position is unknown. */
bool machine_relay(const char *file, const char *command, bool on);

struct contact {
    /* NULL: no contact is wired. */
    const char *file;
    bool closed, seen;
};

/* Reads the contact; true if its state changed. A state counts after two equal reads. */
bool contact_changed(struct contact *contact);

#endif
