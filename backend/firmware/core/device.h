/* Device state machine (docs/contract.md §6, docs/devices.md): reacts to commands, to time and to the return of power.
 * It has no memory but this struct, and no clock, flash or connection: the board provides them. */
#ifndef NYALA_DEVICE_H
#define NYALA_DEVICE_H

#include "journal.h"

enum {
    /* Maximum length of a message. With its topic, the packet stays below 512 bytes. */
    NYALA_WORD_BYTES = 453,
    /* Maximum length of fw and hw in a state report; the rest is cut. */
    NYALA_VERSION_CHARS = 32,
    NYALA_RESET_CHARS = 8,
    /* Maximum number of power returns in one run. After more, the run counts as done: otherwise a machine that loses
     * power each minute would never end. */
    NYALA_RESUMES = 32,
    NYALA_BEAT_MS = 30000,
    NYALA_REST_SAVED_MS = 60000,
    NYALA_EXCHANGE_MS = 2000,
    NYALA_CLOCK_KEPT_MS = 3600000,
    NYALA_RETRY_MS = 1000,
    NYALA_CONTACT_MAX_MS = 30000,
    NYALA_MOST_PULSES = 20,
    /* Limit of all pulses with their gaps, so that the answer comes while the customer waits. */
    NYALA_PULSES_MS = 6000,
    NYALA_MOST_SENSE_S = 3600,
    /* How long a level of the sensor must last before it counts. */
    NYALA_STABLE_MS = 2000,
    /* With this much time left, the sensor moves the end of the run, by that much. */
    NYALA_NEAR_END_MS = 10000,
    NYALA_LATER_S = 60,
    NYALA_COIN_BEAT_MS = 5000,
    NYALA_COINS_SAVED_MS = 60000,
    /* No struct nyala_device is larger. */
    NYALA_DEVICE_BYTES = 576
};

#define NYALA_NEVER UINT64_MAX

enum nyala_topic { NYALA_ACK, NYALA_STATE, NYALA_HB };

/* Functions that the board provides. Each one but `pulse` returns only when its work is done. */
struct nyala_board {
    void *ctx;
    /* Overwrites slot 0 or 1 with the record; true: it is on flash. False: the content of that slot is unknown. */
    bool (*save)(void *ctx, unsigned slot, const uint8_t record[NYALA_RECORD_BYTES]);
    /* Switches the relay. False: the relay's position is unknown. */
    bool (*relay)(void *ctx, bool on);
    void (*say)(void *ctx, enum nyala_topic topic, const char *json, size_t n);
    /* Begins to close the coin contact n times for width_ms, each followed by gap_ms, and returns at once; after the last gap the board
     * calls nyala_device_pulsed. Nothing is saved before that. False: no pulse was or will be sent. NULL: the board has no coin contact. */
    bool (*pulse)(void *ctx, uint32_t n, uint32_t width_ms, uint32_t gap_ms);
};

struct nyala_setup {
    /* Differs on each boot. */
    uint32_t boot_id;
    /* How long a start waits for the running contact; 0: no contact is wired. */
    uint32_t contact_ms;
    /* Versions, for people; NULL: left out of the state report. The strings are not copied. */
    const char *fw, *hw;
    /* Why the board booted: power, brownout, watchdog, panic or other; NULL: not known. The string is not copied. */
    const char *reset;
    /* Whether the board has the sensor of a running machine, and an input that counts coins. */
    bool sense, coin;
};

struct nyala_device {
    struct nyala_journal journal;
    struct nyala_board board;
    struct nyala_setup setup;
    /* All times are the device's own uptime. */
    uint64_t up_ms, ends_ms, contact_by_ms, retry_ms;
    /* Uptime of the last heartbeat, or of the subscription. */
    uint64_t beaten_ms;
    /* Uptime of the last state report on this connection. */
    uint64_t asked_ms;
    /* ahead_ms: server's clock minus uptime, measured by an exchange at uptime told_ms. */
    uint64_t told_ms;
    int64_t ahead_ms;
    /* Sensor. raw_ms: last change of the raw level; sense_ms: last change of the level that counts; counted_ms: time at high is added up until then. */
    uint64_t raw_ms, sense_ms, counted_ms;
    uint64_t coins_due_ms;
    /* coins: the number on flash; coins_told: the one that was sent last. */
    uint32_t coins, coins_told;
    uint32_t conn, seq;
    int32_t rssi;
    /* acks: bit set of the known commands that need an ack. ack_epoch: epoch of the command that asked for it. */
    uint64_t ack_epoch;
    uint16_t acks;
    int8_t running;
    uint8_t slot;
    /* relay: the relay is on. stuck: switching it off failed, so it may still be on. */
    bool relay, stuck;
    /* pulsing: the board sends pulses now. timed: the time of the run passes, because its relay is on or its pulses are sent. */
    bool pulsing, timed;
    uint8_t pulses;
    uint16_t width_ms, gap_ms;
    bool raw, sense;
    /* The journal in memory is newer than the one on flash. */
    bool unsaved;
    bool subscribed, asked, told, has_rssi, contact, fault, state_due;
};

/* Call at power-on. slot0 and slot1: the records on flash, or NULL. The relay stays off unless the journal has a run to resume. */
void nyala_device_boot(struct nyala_device *device, const struct nyala_board *board, const struct nyala_setup *setup,
                       const uint8_t *slot0, const uint8_t *slot1, uint64_t up_ms);

/* Call when a connection begins. From here on, nyala_device_gone writes its last will. */
void nyala_device_linked(struct nyala_device *device, uint64_t up_ms);
/* Call when the subscription to `cmd` is granted. */
void nyala_device_subscribed(struct nyala_device *device, uint64_t up_ms);
void nyala_device_unlinked(struct nyala_device *device, uint64_t up_ms);
/* Writes the offline state report of this connection, at most NYALA_WORD_BYTES, and returns its length. */
size_t nyala_device_gone(const struct nyala_device *device, char *to);

/* Handles a message on `cmd`. False: ignored, because it is retained, malformed, or came before the subscription. */
bool nyala_device_hear(struct nyala_device *device, const uint8_t *json, size_t n, bool retained, uint64_t up_ms);
/* Running contact, debounced: closed while the machine itself reports that it runs. */
void nyala_device_contact(struct nyala_device *device, bool runs, uint64_t up_ms);
/* Fault contact: a faulty machine refuses each start. */
void nyala_device_fault(struct nyala_device *device, bool faulty, uint64_t up_ms);
/* All pulses are sent and the last gap is over. */
void nyala_device_pulsed(struct nyala_device *device, uint64_t up_ms);
/* Raw level of the sensor: true while the machine runs. Call it on each change at least. */
void nyala_device_sense(struct nyala_device *device, bool high, uint64_t up_ms);
/* A coin fell, debounced. */
void nyala_device_coin(struct nyala_device *device, uint64_t up_ms);
/* Signal strength of the radio in dBm, sent with the next heartbeat. */
void nyala_device_rssi(struct nyala_device *device, int32_t dbm);

/* Handles timers. Call it at nyala_device_wake at the latest. */
void nyala_device_tick(struct nyala_device *device, uint64_t up_ms);
uint64_t nyala_device_wake(const struct nyala_device *device);

/* Call before the program ends. Turns the relay off, because no other code would; the next boot resumes the run. Pulses that are still
 * being sent are the board's to end; the next boot refuses their command. */
void nyala_device_end(struct nyala_device *device, uint64_t up_ms);

#endif
