/* A device on a line: when it connects, what it says in MQTT, and when a line is dead. For boards that have a socket. */
#ifndef NYALA_LINE_H
#define NYALA_LINE_H

#include "device.h"
#include "mqtt.h"

enum {
    NYALA_KEEP_ALIVE_S = 30,
    /* A line that says nothing for so long is asked, */
    NYALA_ASK_MS = 20000,
    /* and for so long is dead. */
    NYALA_SILENCE_MS = 45000,
    /* To open it, to log in and to subscribe may take so long each. */
    NYALA_STEP_MS = 15000,
    /* The first wait is up to 2 s, each further one up to twice as long, to 30 s. */
    NYALA_FIRST_WAIT_MS = 2000,
    NYALA_MOST_WAIT_MS = 30000,
    /* A line that held so long was a good one: the waits begin anew. */
    NYALA_GOOD_MS = 30000,
    NYALA_TOPIC_BYTES = 64,
    NYALA_SECRET_BYTES = 129,
    /* No struct nyala_line is larger. */
    NYALA_LINE_BYTES = 3328
};

/* Whose device it is; see `nyala device add`. */
struct nyala_login {
    char user[24];
    char secret[NYALA_SECRET_BYTES];
    uint64_t idoutlet, idmesin;
};

enum nyala_line_state { NYALA_WAITING, NYALA_OPENING, NYALA_LOGGING_IN, NYALA_SUBSCRIBING, NYALA_UP };

enum nyala_line_want {
    NYALA_WANT_NOTHING,
    /* Open a connection, and tell with nyala_line_opened or nyala_line_closed what came of it. */
    NYALA_WANT_OPEN,
    /* Close it, and tell with nyala_line_closed. */
    NYALA_WANT_CLOSE
};

/* Why a line came to its end, for people. */
enum nyala_line_end {
    NYALA_END_NONE,
    NYALA_END_CLOSED,
    NYALA_END_REFUSED,
    NYALA_END_DENIED,
    NYALA_END_VIOLATION,
    NYALA_END_SILENT,
    NYALA_END_FULL
};

struct nyala_line {
    struct nyala_device device;
    struct nyala_mqtt mqtt;
    struct nyala_login login;
    /* The board's own. */
    struct nyala_board board;
    enum nyala_line_state state;
    enum nyala_line_end end;
    uint32_t random, most_wait_ms;
    /* When the state began, something was heard, something was asked. */
    uint64_t since_ms, heard_ms, asked_ms;
    /* In NYALA_WAITING. */
    uint64_t open_ms;
};

/* Boots the device. `random` differs from device to device and from boot to boot. The board's `say` is not called. */
void nyala_line_boot(struct nyala_line *line, const struct nyala_login *login, const struct nyala_board *board,
                     const struct nyala_setup *setup, const uint8_t *slot0, const uint8_t *slot1, uint32_t random, uint64_t up_ms);

/* What is to be done; at nyala_line_wake at the latest, and after each call below. */
enum nyala_line_want nyala_line_tick(struct nyala_line *line, uint64_t up_ms);
uint64_t nyala_line_wake(const struct nyala_line *line);

void nyala_line_opened(struct nyala_line *line, uint64_t up_ms);
void nyala_line_closed(struct nyala_line *line, uint64_t up_ms);
/* Takes what was read, and tells how much of it: the rest is for when what waits in mqtt.out has been sent. */
size_t nyala_line_take(struct nyala_line *line, const uint8_t *bytes, size_t n, uint64_t up_ms);

/* The program ends: the relay is off, the run is in the journal, the farewell waits in mqtt.out. */
void nyala_line_end(struct nyala_line *line, uint64_t up_ms);

#endif
