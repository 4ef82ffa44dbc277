/* A device of Nyala (docs/contract.md §6, docs/devices.md): what it does when it is told something, when time passes and when its
 * power comes back. No memory but this struct, no clock, no flash, no line: the board gives them. */
#ifndef NYALA_DEVICE_H
#define NYALA_DEVICE_H

#include "journal.h"

enum {
    /* The longest word; with its topic it is a packet of less than 512 bytes. */
    NYALA_WORD_BYTES = 416,
    /* What is said of fw and hw. */
    NYALA_VERSION_CHARS = 32,
    /* A machine whose power comes back more often in one run has had it: else one that loses it each minute would never end. */
    NYALA_RESUMES = 32,
    NYALA_BEAT_MS = 30000,
    NYALA_REST_SAVED_MS = 60000,
    NYALA_EXCHANGE_MS = 2000,
    NYALA_CLOCK_KEPT_MS = 3600000,
    NYALA_RETRY_MS = 1000,
    NYALA_CONTACT_MAX_MS = 30000,
    /* No struct nyala_device is larger. */
    NYALA_DEVICE_BYTES = 576
};

#define NYALA_NEVER UINT64_MAX

enum nyala_topic { NYALA_ACK, NYALA_STATE, NYALA_HB };

/* What the core cannot do itself. Each returns when it is done. */
struct nyala_board {
    void *ctx;
    /* Writes the record over what is in slot 0 or 1; true once it is on flash. False: what is in that slot now is not known. */
    bool (*save)(void *ctx, unsigned slot, const uint8_t record[NYALA_RECORD_BYTES]);
    /* False: it is not known to be so. */
    bool (*relay)(void *ctx, bool on);
    void (*say)(void *ctx, enum nyala_topic topic, const char *json, size_t n);
};

struct nyala_setup {
    /* Another one for each boot. */
    uint32_t boot_id;
    /* How long a start waits for the running contact; 0: there is none. */
    uint32_t contact_ms;
    /* Versions, for people; NULL: not said. They are not copied. */
    const char *fw, *hw;
};

struct nyala_device {
    struct nyala_journal journal;
    struct nyala_board board;
    struct nyala_setup setup;
    /* All times are its own uptime. */
    uint64_t up_ms, ends_ms, contact_by_ms, retry_ms, beat_ms;
    /* Of the last state in this connection. */
    uint64_t asked_ms;
    /* The server's clock is so much ahead of the uptime, by an exchange at that uptime. */
    uint64_t told_ms;
    int64_t ahead_ms;
    uint32_t conn, seq;
    int32_t rssi;
    /* Which of the known commands are to be acknowledged, and the epoch of the command that asked. */
    uint64_t ack_epoch;
    uint16_t acks;
    int8_t running;
    uint8_t slot;
    /* The relay is on; the relay may be on although it should not. */
    bool relay, stuck;
    /* The journal here is newer than that on flash. */
    bool unsaved;
    bool subscribed, asked, told, has_rssi, contact, fault, state_due;
};

/* The power is on. The records are what the slots hold, or NULL. The relay is off until the journal says that it was on. */
void nyala_device_boot(struct nyala_device *device, const struct nyala_board *board, const struct nyala_setup *setup,
                       const uint8_t *slot0, const uint8_t *slot1, uint64_t up_ms);

/* A connection begins. Its last will is nyala_device_gone from here on. */
void nyala_device_linked(struct nyala_device *device, uint64_t up_ms);
/* Its subscription to `cmd` is granted. */
void nyala_device_subscribed(struct nyala_device *device, uint64_t up_ms);
void nyala_device_unlinked(struct nyala_device *device, uint64_t up_ms);
/* Writes what is true of this connection when it is over, up to NYALA_WORD_BYTES, and tells how much. */
size_t nyala_device_gone(const struct nyala_device *device, char *to);

/* Something was published to `cmd`. False: it is not obeyed, being retained, malformed, or before the subscription. */
bool nyala_device_hear(struct nyala_device *device, const uint8_t *json, size_t n, bool retained, uint64_t up_ms);
/* The running contact, debounced: the machine runs by its own word. */
void nyala_device_contact(struct nyala_device *device, bool runs, uint64_t up_ms);
/* The machine is faulty, and takes no start. */
void nyala_device_fault(struct nyala_device *device, bool faulty, uint64_t up_ms);
/* The strength of the radio's signal in dBm, which the next heartbeat tells. */
void nyala_device_rssi(struct nyala_device *device, int32_t dbm);

/* Time passes; to be called at nyala_device_wake at the latest. */
void nyala_device_tick(struct nyala_device *device, uint64_t up_ms);
uint64_t nyala_device_wake(const struct nyala_device *device);

/* The program ends, and nobody would turn the relay off: it is off, and the run goes on with the next boot. */
void nyala_device_end(struct nyala_device *device, uint64_t up_ms);

#endif
