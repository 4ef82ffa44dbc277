#include "rig.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void note(struct rig *r, const char *format, ...)
{
    va_list values;
    int n;
    va_start(values, format);
    n = vsnprintf(r->log + r->log_n, sizeof r->log - r->log_n, format, values);
    va_end(values);
    if (n < 0 || (size_t)n >= sizeof r->log - r->log_n)
        abort();
    r->log_n += (size_t)n;
}

/* True if the power is lost already. */
static bool dead(struct rig *r)
{
    if (!r->dying)
        return false;
    if (r->calls_left == 0)
        return true;
    r->calls_left--;
    return false;
}

static bool save(void *ctx, unsigned slot, const uint8_t record[NYALA_RECORD_BYTES])
{
    static const size_t written[] = {NYALA_RECORD_BYTES, 0, NYALA_RECORD_BYTES / 2, NYALA_RECORD_BYTES};
    struct rig *r = ctx;
    enum rig_flash flash;
    if (dead(r))
        return false;
    flash = r->dying && r->calls_left == 0 ? r->last_flash : r->flash;
    if (flash != FLASH_BROKEN)
        r->there[slot] = true;
    memcpy(r->slots[slot], record, written[flash]);
    note(r, "journal %u %s\n", slot, flash == FLASH_OK ? "ok" : "failed");
    return flash == FLASH_OK;
}

static bool relay(void *ctx, bool on)
{
    struct rig *r = ctx;
    if (dead(r))
        return false;
    note(r, "relay %s%s\n", on ? "on" : "off", r->relay_broken ? " failed" : "");
    if (!r->relay_broken)
        r->relay = on;
    return !r->relay_broken;
}

static bool pulse(void *ctx, uint32_t n, uint32_t width_ms, uint32_t gap_ms)
{
    struct rig *r = ctx;
    if (dead(r))
        return false;
    note(r, "pulse %u %u %u%s\n", (unsigned)n, (unsigned)width_ms, (unsigned)gap_ms, r->pulse_broken ? " failed" : "");
    if (!r->pulse_broken)
        r->pulses += (unsigned)n;
    return !r->pulse_broken;
}

static void say(void *ctx, enum nyala_topic topic, const char *json, size_t n)
{
    static const char *const names[] = {"ack", "state", "hb"};
    if (!dead(ctx))
        note(ctx, "%s %.*s\n", names[topic], (int)n, json);
}

void rig_blank(struct rig *r)
{
    memset(r, 0, sizeof *r);
}

void rig_boot(struct rig *r, const struct nyala_setup *setup, uint64_t up_ms)
{
    struct nyala_board board = {NULL, save, relay, say, r->pulse ? pulse : NULL};
    board.ctx = r;
    nyala_device_boot(&r->device, &board, setup, r->there[0] ? r->slots[0] : NULL, r->there[1] ? r->slots[1] : NULL, up_ms);
}

void rig_off(struct rig *r)
{
    /* Overwrites the memory, so that a test fails if the device relies on anything but flash. */
    memset(&r->device, 0xA5, sizeof r->device);
    r->relay = r->dying = false;
}

void rig_read(struct rig *r)
{
    r->log_n = 0;
    r->log[0] = 0;
}
