/* Test board for the core: it logs each call as one line. For the tests, and for the core as a process (core-stdio.c). */
#ifndef NYALA_RIG_H
#define NYALA_RIG_H

#include <stdio.h>

#include "../core/device.h"

enum { RIG_LOG_BYTES = 1 << 16 };

/* Result of saving a record. */
enum rig_flash {
    FLASH_OK,
    /* No byte is written. */
    FLASH_BROKEN,
    /* Half of the record is written. */
    FLASH_TORN,
    /* The whole record is written, but the core receives a failure. */
    FLASH_UNSURE
};

struct rig {
    struct nyala_device device;
    uint8_t slots[2][NYALA_RECORD_BYTES];
    bool there[2];
    enum rig_flash flash;
    bool relay_broken;
    /* The board has a coin contact, and whether it fails. */
    bool pulse, pulse_broken;
    /* Real position of the relay. */
    bool relay;
    /* Number of pulses that were sent, over all boots. */
    unsigned pulses;
    /* Power is lost after calls_left more calls of the board: later calls do nothing. If the last one saves, last_flash is its result. */
    bool dying;
    unsigned calls_left;
    enum rig_flash last_flash;
    char log[RIG_LOG_BYTES];
    size_t log_n;
};

void rig_blank(struct rig *rig);
void rig_boot(struct rig *rig, const struct nyala_setup *setup, uint64_t up_ms);
/* Cuts the power. */
void rig_off(struct rig *rig);
/* Empties the log. */
void rig_read(struct rig *rig);

#endif
