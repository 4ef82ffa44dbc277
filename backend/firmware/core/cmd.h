/* The one word that the server says (docs/contract.md §6). */
#ifndef NYALA_CMD_H
#define NYALA_CMD_H

#include "json.h"

enum { NYALA_ID_BYTES = 16, NYALA_ID_TEXT = 36 };

enum nyala_op { NYALA_START, NYALA_STOP, NYALA_QUERY };

struct nyala_cmd {
    uint8_t id[NYALA_ID_BYTES];
    enum nyala_op op;
    uint64_t epoch, duration_s, exp_s, now_ms, echo_ms;
    /* It tells the time: now_ms, and echo_ms of the state that it answers. */
    bool tells_time;
};

/* False: it is none; the reader takes it whole or not at all. Fields that are not known are passed over. */
bool nyala_cmd_read(struct nyala_cmd *cmd, const uint8_t *json, size_t n);

bool nyala_id_is_nil(const uint8_t id[NYALA_ID_BYTES]);
/* Writes NYALA_ID_TEXT characters, and no end. */
void nyala_id_text(const uint8_t id[NYALA_ID_BYTES], char *to);

#endif
