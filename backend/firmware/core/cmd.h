/* Command: the only message that the server sends to a device (docs/contract.md §6). */
#ifndef NYALA_CMD_H
#define NYALA_CMD_H

#include "json.h"

enum {
    NYALA_ID_BYTES = 16,
    NYALA_ID_TEXT = 36,
    /* sense_s of a command that has none. */
    NYALA_SENSE_S = 60
};

enum nyala_op { NYALA_START, NYALA_STOP, NYALA_QUERY, NYALA_PULSE };

struct nyala_cmd {
    uint8_t id[NYALA_ID_BYTES];
    enum nyala_op op;
    uint64_t epoch, duration_s, exp_s, now_ms, echo_ms;
    /* Of NYALA_PULSE only. */
    uint64_t pulses, width_ms, gap_ms, sense_s;
    /* The command has the time: now_ms, and echo_ms of the state report that it answers. */
    bool tells_time;
};

/* False: not a valid command; then `cmd` must not be used. Unknown fields are ignored. */
bool nyala_cmd_read(struct nyala_cmd *cmd, const uint8_t *json, size_t n);

bool nyala_id_is_nil(const uint8_t id[NYALA_ID_BYTES]);
/* Writes NYALA_ID_TEXT characters, without a terminating NUL. */
void nyala_id_text(const uint8_t id[NYALA_ID_BYTES], char *to);

#endif
