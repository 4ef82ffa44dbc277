/* Options of the program: from arguments, the environment, and the line that `nyala device add` prints. */
#ifndef NYALA_OPTIONS_H
#define NYALA_OPTIONS_H

#include "../core/line.h"

enum { HOST_BYTES = 256, CA_BYTES = 8192, PATH_BYTES = 512 };

struct options {
    struct nyala_login login;
    char host[HOST_BYTES];
    uint16_t port;
    /* PEM; empty: no TLS. */
    char ca[CA_BYTES];
    char journal[PATH_BYTES];
    /* NULL: not set. */
    const char *relay, *relay_command, *pulse, *pulse_command, *running_contact, *fault, *sense, *coin;
    uint32_t contact_ms;
};

/* Reads the options. If they are incomplete or invalid, prints why and ends the program with exit code 2. */
void options_read(struct options *options, int argc, char **argv);

#endif
