/* Journal: the state that must survive a loss of power. It alternates between two records on flash, so a write that a loss of power
 * interrupts destroys only that record. */
#ifndef NYALA_JOURNAL_H
#define NYALA_JOURNAL_H

#include "cmd.h"

enum {
    NYALA_KNOWN = 16,
    NYALA_LONGEST_RUN_S = 86400,
    NYALA_KNOWN_BYTES = NYALA_ID_BYTES + 1,
    /* Longest time by which the sensor moves the end of a run. */
    NYALA_LONGEST_WAIT_S = 3600,
    /* Time the machine has to run before the sensor may end its run. */
    NYALA_HIGH_MS = 60000,
    /* Record of version 1: magic, number, epoch, rest_ms, last, resumed, the commands, checksum. */
    NYALA_RECORD_1_BYTES = 4 + 8 + 8 + 4 + 1 + 1 + NYALA_KNOWN * NYALA_KNOWN_BYTES + 4,
    /* Version 2 has before the checksum: coins, duration_s, sense_s, tambah_s, high_ms, risen. */
    NYALA_RECORD_BYTES = NYALA_RECORD_1_BYTES + 4 + 4 + 2 + 2 + 2 + 1
};

enum nyala_result {
    NYALA_NONE,
    /* The relay closes; whether the machine runs is not known yet. */
    NYALA_TRYING,
    /* The machine runs. */
    NYALA_STARTED,
    NYALA_REFUSED,
    NYALA_EXPIRED,
    NYALA_DONE,
    /* The pulses are being sent; how many reached the machine is not known. */
    NYALA_PULSING,
    /* All pulses were sent, and the machine runs its own cycle. */
    NYALA_CREDITED,
    /* Refused, because the power was lost while the pulses were sent. */
    NYALA_CUT
};

/* A known command. A repeat of it gets the same answer. */
struct nyala_known {
    uint8_t id[NYALA_ID_BYTES];
    uint8_t result;
};

struct nyala_journal {
    /* Sequence number: higher in each new record. */
    uint64_t number;
    /* The highest epoch of any command. */
    uint64_t epoch;
    struct nyala_known known[NYALA_KNOWN];
    /* Time left of the run when this record was saved. */
    uint32_t rest_ms;
    /* Index of the newest known command. */
    uint8_t last;
    /* Number of power returns in this run. */
    uint8_t resumed;
    /* Number of coins since this board was new. */
    uint32_t coins;
    /* The run that pulses started. duration_s, sense_s: from its command. */
    uint32_t duration_s;
    uint16_t sense_s;
    /* Seconds by which the sensor has moved its end. */
    uint16_t tambah_s;
    /* high_ms: how long the machine ran in it, up to NYALA_HIGH_MS; risen: whether it ever ran. */
    uint16_t high_ms;
    bool risen;
};

void nyala_journal_write(const struct nyala_journal *journal, uint8_t record[NYALA_RECORD_BYTES]);
/* Reads the newer of two records (NULL: missing) and returns its index; -1: both are invalid, so the journal is empty. Each is in a
 * buffer of NYALA_RECORD_BYTES; what follows a record of version 1, which is shorter, does not matter. */
int nyala_journal_read(struct nyala_journal *journal, const uint8_t *first, const uint8_t *second);
/* Index of the command that runs, is being tried or gets its pulses; -1: no such command. */
int nyala_journal_running(const struct nyala_journal *journal);

#endif
