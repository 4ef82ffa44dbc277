/* Talk with a device on the test board, for the tests of its rules. */
#ifndef NYALA_TALK_H
#define NYALA_TALK_H

#include "rig.h"

#define T0 UINT64_C(1800000000000)
#define NIL "00000000-0000-0000-0000-000000000000"
#define A "aaaaaaaa-0000-4000-8000-000000000001"
#define B "bbbbbbbb-0000-4000-8000-000000000002"
#define C "cccccccc-0000-4000-8000-000000000003"

extern struct rig r;
/* How `boot` sets the device up. */
extern struct nyala_setup setup;
extern bool can_pulse;

/* The board's log since the last call of this function. */
const char *told(void);
/* True if `log` contains each of these parts, in this order; NULL ends the list. */
bool has(const char *log, const char *const *parts);
#define HAS(log, ...) has(log, (const char *const[]){__VA_ARGS__, NULL})
/* True if it contains neither a state report nor an ack. */
bool silent(const char *log);

void boot(void);
void line(uint64_t up_ms);
/* Sends a command that is written at `now_ms` and expires ten seconds later; `echo`: the state report that it answers, or with further
 * fields behind it. */
const char *say(const char *op, const char *id, int epoch, int duration_s, uint64_t now_ms, const char *echo, uint64_t up_ms);
/* Sends the server's immediate answer to the state report of this uptime. Afterwards the server's clock is T0 plus the uptime. */
void probe(uint64_t up_ms);
/* Device that is connected, knows the time, and has an uptime of 1000. */
void ready(void);
const char *start(const char *id, int epoch, uint64_t up_ms);
const char *query(const char *id, int epoch, uint64_t up_ms);
const char *tick(uint64_t up_ms);
/* A `pulse` of four pulses: 50 ms each, and 100 ms after it. */
const char *pulse(const char *id, int epoch, int duration_s, uint64_t up_ms);
/* Reports to the device that all pulses are sent. */
const char *pulsed(uint64_t up_ms);
/* Cuts the power and restores it at once; uptime restarts at 0. */
const char *power_back(void);

#endif
