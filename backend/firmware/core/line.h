/* Connection of a device over MQTT: when it connects, what it publishes, and when a connection is dead. For boards with a socket. */
#ifndef NYALA_LINE_H
#define NYALA_LINE_H

#include "device.h"
#include "mqtt.h"

enum {
    NYALA_KEEP_ALIVE_S = 30,
    /* Silence after which a PINGREQ is sent, */
    NYALA_ASK_MS = 20000,
    /* and silence after which the connection is dead. */
    NYALA_SILENCE_MS = 45000,
    /* Time limit of each step: opening, login, subscription. */
    NYALA_STEP_MS = 15000,
    /* Reconnect delay: drawn from 0 to a maximum that starts at 2 s and doubles up to 30 s. */
    NYALA_FIRST_WAIT_MS = 2000,
    NYALA_MOST_WAIT_MS = 30000,
    /* A connection that lasted this long resets the reconnect delay. */
    NYALA_GOOD_MS = 30000,
    NYALA_TOPIC_BYTES = 64,
    NYALA_SECRET_BYTES = 129,
    /* No struct nyala_line is larger. */
    NYALA_LINE_BYTES = 3456
};

/* Login and topics of the device, as `nyala device add` prints them. */
struct nyala_login {
    char user[24];
    char secret[NYALA_SECRET_BYTES];
    uint64_t idoutlet, idmesin;
};

enum nyala_line_state { NYALA_WAITING, NYALA_OPENING, NYALA_LOGGING_IN, NYALA_SUBSCRIBING, NYALA_UP };

enum nyala_line_want {
    NYALA_WANT_NOTHING,
    /* Open a connection, and report the result with nyala_line_opened or nyala_line_closed. */
    NYALA_WANT_OPEN,
    /* Close the connection, and report it with nyala_line_closed. */
    NYALA_WANT_CLOSE
};

/* Reason for the end of a connection, for people. */
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
    /* The board's own functions. */
    struct nyala_board board;
    enum nyala_line_state state;
    enum nyala_line_end end;
    uint32_t random, most_wait_ms;
    /* Uptime at which the state began, bytes were last received, a PINGREQ was last sent. */
    uint64_t since_ms, heard_ms, asked_ms;
    /* In NYALA_WAITING: when to open the next connection. */
    uint64_t open_ms;
};

/* Boots the device. `random` must differ between devices and between boots. The board's `say` is not called. */
void nyala_line_boot(struct nyala_line *line, const struct nyala_login *login, const struct nyala_board *board,
                     const struct nyala_setup *setup, const uint8_t *slot0, const uint8_t *slot1, uint32_t random, uint64_t up_ms);

/* Returns what the board must do next. Call it at nyala_line_wake at the latest, and after each call below. */
enum nyala_line_want nyala_line_tick(struct nyala_line *line, uint64_t up_ms);
uint64_t nyala_line_wake(const struct nyala_line *line);

void nyala_line_opened(struct nyala_line *line, uint64_t up_ms);
void nyala_line_closed(struct nyala_line *line, uint64_t up_ms);
/* Consumes received bytes and returns how many. Pass the rest again once mqtt.out has been sent. */
size_t nyala_line_take(struct nyala_line *line, const uint8_t *bytes, size_t n, uint64_t up_ms);

/* Call before the program ends: turns the relay off, saves the run, and leaves the last message in mqtt.out. */
void nyala_line_end(struct nyala_line *line, uint64_t up_ms);

#endif
