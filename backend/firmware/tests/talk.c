#include "talk.h"

#include <inttypes.h>
#include <string.h>

#include "check.h"

struct rig r;
bool can_pulse;
struct nyala_setup setup = {7, 0, "1.0", "esp32", NULL, false, false};

const char *told(void)
{
    static char text[RIG_LOG_BYTES];
    memcpy(text, r.log, sizeof text);
    rig_read(&r);
    return text;
}

bool has(const char *log, const char *const *parts)
{
    for (; *parts; parts++) {
        log = strstr(log, *parts);
        if (!log)
            return false;
        log += strlen(*parts);
    }
    return true;
}

bool silent(const char *log)
{
    return !strstr(log, "state ") && !strstr(log, "ack ");
}

void boot(void)
{
    r.pulse = can_pulse;
    rig_boot(&r, &setup, 0);
}

void line(uint64_t up_ms)
{
    nyala_device_linked(&r.device, up_ms);
    nyala_device_subscribed(&r.device, up_ms);
}

const char *say(const char *op, const char *id, int epoch, int duration_s, uint64_t now_ms, const char *echo, uint64_t up_ms)
{
    char json[400];
    int n = snprintf(json, sizeof json,
                     "{\"cmd_id\":\"%s\",\"epoch\":%d,\"op\":\"%s\",\"durasi_s\":%d,\"exp\":%" PRIu64 ",\"now_ms\":%" PRIu64 ",\"echo\":%s}", id,
                     epoch, op, duration_s, now_ms / 1000 + 10, now_ms, echo);
    CHECK(nyala_device_hear(&r.device, (const uint8_t *)json, (size_t)n, false, up_ms));
    return told();
}

void probe(uint64_t up_ms)
{
    char echo[24];
    snprintf(echo, sizeof echo, "%" PRIu64, up_ms);
    say("query", NIL, 0, 0, T0 + up_ms, echo, up_ms);
}

void ready(void)
{
    rig_blank(&r);
    boot();
    line(1000);
    probe(1000);
    told();
}

const char *start(const char *id, int epoch, uint64_t up_ms)
{
    return say("start", id, epoch, 600, T0 + up_ms, "null", up_ms);
}

const char *query(const char *id, int epoch, uint64_t up_ms)
{
    return say("query", id, epoch, 600, T0 + up_ms, "null", up_ms);
}

const char *tick(uint64_t up_ms)
{
    nyala_device_tick(&r.device, up_ms);
    return told();
}

const char *pulse(const char *id, int epoch, int duration_s, uint64_t up_ms)
{
    return say("pulse", id, epoch, duration_s, T0 + up_ms, "null,\"n\":4,\"width_ms\":50,\"gap_ms\":100", up_ms);
}

const char *pulsed(uint64_t up_ms)
{
    nyala_device_pulsed(&r.device, up_ms);
    return told();
}

const char *power_back(void)
{
    rig_off(&r);
    boot();
    return told();
}
