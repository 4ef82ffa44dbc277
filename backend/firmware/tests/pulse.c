/* Coin pulses (docs/contract.md §6): what is saved, sent and said, and that a loss of power at any moment neither pulses twice nor leaves
 * anybody who paid without an answer. */
#include "talk.h"

#include <string.h>

#include "check.h"

enum { PULSES = 4 };

static const char CUT[] = "\"result\":\"refused\",\"why\":\"cut\"";

static void coin_machine(void)
{
    can_pulse = true;
    ready();
}

/* A device whose run was started by pulses at 1700. */
static void washing(void)
{
    coin_machine();
    pulse(A, 1, 600, 1100);
    CHECK(HAS(pulsed(1700), "started"));
}

static void journal_then_pulses_then_journal_then_ack(void)
{
    const char *log;
    coin_machine();
    log = pulse(A, 4, 600, 1100);
    CHECK(strcmp(log, "journal 0 ok\npulse 4 50 100\n") == 0);
    log = pulsed(1700);
    CHECK(HAS(log, "journal 1 ok\nstate ",
              "\"epoch\":4,\"last\":{\"cmd_id\":\"" A "\",\"result\":\"started\"},\"run\":{\"cmd_id\":\"" A "\",\"sisa_s\":600},\"fw\":\"1.0\","
              "\"hw\":\"esp32\",\"can\":[\"pulse\"]}\nack {\"cmd_id\":\"" A "\",\"epoch\":4,\"result\":\"started\",\"boot_id\":7,\"seq\":4,"
              "\"up_ms\":1700}\n"));
    CHECK(!strstr(log, "relay") && !*pulsed(1800) && r.pulses == PULSES);
}

static void between_the_marks_only_heartbeats_are_sent(void)
{
    const char *log;
    coin_machine();
    pulse(A, 1, 600, 1100);
    CHECK(!*pulse(A, 1, 600, 1200) && !*query(A, 1, 1200) && !*say("stop", A, 1, 0, T0 + 1300, "null", 1300));
    CHECK(!*say("query", NIL, 0, 0, T0 + 1300, "null", 1300));
    /* Other commands are taken, and saved and answered afterwards: a write to flash could make a pulse longer. */
    CHECK(!*start(B, 2, 1400) && nyala_device_wake(&r.device) == 31000);
    log = tick(31000);
    CHECK(HAS(log, "hb ") && silent(log));
    line(31100);
    CHECK(!*told());
    log = pulsed(31200);
    CHECK(HAS(log, "journal 1 ok\nstate ", B "\",\"result\":\"refused\"},\"run\":{\"cmd_id\":\"" A "\",\"sisa_s\":600}", "ack ", A, "started"));
    CHECK(r.pulses == PULSES && !r.relay);
}

static void repeats_have_the_same_answer_and_pulse_no_more(void)
{
    washing();
    CHECK(HAS(pulse(A, 1, 600, 1800), "ack ", "started") && HAS(query(A, 1, 1900), "state ", "\"run\":{", "ack ", "started"));
    /* A start never pulses and a pulse never closes the relay, also as repeats of each other. */
    CHECK(HAS(start(A, 1, 2000), "ack ", "started") && HAS(pulse(B, 2, 600, 2100), "refused"));
    CHECK(HAS(tick(601700), "journal", "state ", "\"run\":null", "ack ", A, "done"));
    CHECK(HAS(pulse(A, 1, 600, 601800), "ack ", "done") && HAS(pulse(B, 2, 600, 601900), "ack ", "refused"));
    CHECK(HAS(start(C, 3, 602000), "relay on", "started") && HAS(pulse(C, 3, 600, 602100), "ack ", "started"));
    CHECK(r.pulses == PULSES);
}

static void a_stop_changes_nothing(void)
{
    const char *log;
    washing();
    log = say("stop", A, 1, 0, T0 + 2000, "null", 2000);
    CHECK(HAS(log, "state ", "\"run\":{\"cmd_id\":\"" A, "ack ", "started") && !strstr(log, "journal"));
    CHECK(nyala_device_wake(&r.device) == 31000);
    nyala_device_unlinked(&r.device, 2100);
    CHECK(nyala_device_wake(&r.device) == 61700);
    tick(601699);
    CHECK(nyala_device_wake(&r.device) == 601700 && HAS(tick(601700), "journal") && r.device.running == -1);
}

static void what_forbids_a_start_forbids_pulses(void)
{
    rig_blank(&r);
    boot();
    line(1000);
    CHECK(HAS(pulse(A, 1, 600, 1100), "expired"));
    washing();
    CHECK(HAS(pulse(B, 1, 600, 1800), "refused") && HAS(say("pulse", C, 1, 600, T0 - 20000, "null,\"n\":1,\"width_ms\":1,\"gap_ms\":1", 1900), "expired"));
    coin_machine();
    start(A, 5, 1100);
    CHECK(HAS(pulse(B, 5, 600, 1200), "refused"));
    say("stop", A, 5, 0, T0, "null", 1300);
    CHECK(HAS(pulse(C, 4, 600, 1400), "refused"));
    coin_machine();
    nyala_device_fault(&r.device, true, 1100);
    CHECK(HAS(pulse(A, 1, 600, 1200), "refused") && r.pulses == 0);
}

static void a_board_without_the_output_and_one_whose_output_fails_refuse(void)
{
    const char *log;
    can_pulse = false;
    ready();
    log = pulse(A, 1, 600, 1100);
    CHECK(HAS(log, "journal", "refused") && !strstr(log, "relay") && !strstr(log, "pulse ") && !strstr(log, "\"can\""));
    coin_machine();
    r.pulse_broken = true;
    log = pulse(A, 1, 600, 1100);
    CHECK(HAS(log, "journal 0 ok\npulse 4 50 100 failed\njournal 1 ok\nstate ", "refused\"},\"run\":null", "ack ", "refused\",\"boot_id\""));
    r.pulse_broken = false;
    CHECK(HAS(pulse(A, 1, 600, 1200), "refused") && HAS(pulse(B, 1, 600, 1300), "pulse 4"));
}

static void numbers_out_of_their_limits_are_refused(void)
{
    static const struct {
        int duration_s;
        const char *rest;
        bool good;
    } all[] = {
        {600, "\"n\":0,\"width_ms\":50,\"gap_ms\":50", false},        {600, "\"n\":1,\"width_ms\":50,\"gap_ms\":50", true},
        {600, "\"n\":20,\"width_ms\":150,\"gap_ms\":150", true},      {600, "\"n\":20,\"width_ms\":150,\"gap_ms\":151", false},
        {600, "\"n\":21,\"width_ms\":1,\"gap_ms\":1", false},         {600, "\"n\":1,\"width_ms\":0,\"gap_ms\":50", false},
        {600, "\"n\":1,\"width_ms\":50,\"gap_ms\":0", false},         {600, "\"n\":1,\"width_ms\":5999,\"gap_ms\":1", true},
        {600, "\"n\":1,\"width_ms\":1,\"gap_ms\":6000", false},       {86400, "\"n\":1,\"width_ms\":1,\"gap_ms\":1", true},
        {86401, "\"n\":1,\"width_ms\":1,\"gap_ms\":1", false},        {600, "\"n\":1,\"width_ms\":1,\"gap_ms\":1,\"sense_s\":0", false},
        {600, "\"n\":1,\"width_ms\":1,\"gap_ms\":1,\"sense_s\":1", true}, {600, "\"n\":1,\"width_ms\":1,\"gap_ms\":1,\"sense_s\":3600", true},
        {600, "\"n\":1,\"width_ms\":1,\"gap_ms\":1,\"sense_s\":3601", false},
        {600, "\"n\":2,\"width_ms\":9007199254740991,\"gap_ms\":9007199254740991", false},
        {600, "\"n\":9007199254740991,\"width_ms\":1,\"gap_ms\":1", false},
    };
    size_t i;
    for (i = 0; i < sizeof all / sizeof *all; i++) {
        char rest[200];
        const char *log;
        coin_machine();
        snprintf(rest, sizeof rest, "null,%s", all[i].rest);
        log = say("pulse", A, 1, all[i].duration_s, T0 + 1100, rest, 1100);
        if (all[i].good != (strstr(log, "\npulse ") != NULL) || all[i].good == (strstr(log, "refused") != NULL)) {
            fprintf(stderr, "%s: %s", rest, log);
            exit(1);
        }
    }
}

static void a_test_pulses_and_begins_no_run(void)
{
    const char *log;
    coin_machine();
    log = pulse(A, 1, 0, 1100);
    CHECK(strcmp(log, "journal 0 ok\npulse 4 50 100\n") == 0 && !*start(B, 1, 1200));
    CHECK(HAS(pulsed(1700), "journal 1 ok\nstate ", "\"run\":null", "ack ", A, "done", "ack ", B, "refused"));
    CHECK(HAS(pulse(A, 1, 0, 1800), "ack ", "done") && r.pulses == PULSES);
    CHECK(HAS(pulse(C, 1, 600, 1900), "pulse 4"));
    coin_machine();
    pulse(A, 1, 0, 1100);
    power_back();
    line(10);
    CHECK(HAS(told(), CUT, "\"run\":null"));
}

/* --- power, flash --- */

static void power_lost_in_the_pulses_refuses_and_says_so_on_each_repeat(void)
{
    const char *log;
    coin_machine();
    pulse(A, 1, 600, 1100);
    log = power_back();
    CHECK(HAS(log, "relay off\njournal ") && !strstr(log, "pulse") && !strstr(log, "relay on"));
    line(10);
    CHECK(HAS(told(), "\"last\":{\"cmd_id\":\"" A "\",", CUT, "}", "\"run\":null"));
    probe(10);
    CHECK(HAS(pulse(A, 1, 600, 20), "ack ", A, CUT) && HAS(query(A, 1, 30), "state ", "ack ", A, CUT));
    power_back();
    line(10);
    probe(10);
    CHECK(HAS(query(A, 1, 20), "state ", CUT, "ack ", A, CUT) && r.pulses == PULSES);
    CHECK(HAS(pulse(B, 1, 600, 30), "pulse 4"));
    CHECK(HAS(pulsed(630), "ack ", B, "started") && HAS(query(A, 1, 700), "ack ", A, CUT));
}

static void after_the_second_mark_the_run_goes_on_without_relay_or_pulses(void)
{
    const char *log;
    int boots;
    washing();
    tick(61700);
    log = power_back();
    CHECK(HAS(log, "relay off\njournal ") && !strstr(log, "relay on") && !strstr(log, "pulse"));
    line(10);
    CHECK(HAS(told(), A "\",\"result\":\"started\"},\"run\":{\"cmd_id\":\"" A "\",\"sisa_s\":540}"));
    CHECK(HAS(tick(540000), "journal", "done\"},\"run\":null") && !r.relay);
    washing();
    for (boots = 0; r.device.running >= 0; boots++)
        power_back();
    CHECK(boots == NYALA_RESUMES + 1 && r.pulses == PULSES);
    /* An orderly end of the program keeps the time left. */
    washing();
    nyala_device_end(&r.device, 101700);
    CHECK(HAS(told(), "journal 0 ok\nstate {\"online\":false"));
    power_back();
    line(10);
    CHECK(HAS(told(), "\"sisa_s\":500"));
}

static void flash_that_fails_before_the_pulses_refuses(void)
{
    enum rig_flash flash;
    for (flash = FLASH_BROKEN; flash <= FLASH_UNSURE; flash++) {
        const char *log;
        coin_machine();
        r.flash = flash;
        log = pulse(A, 1, 600, 1100);
        CHECK(silent(log) && !strstr(log, "pulse ") && silent(tick(2099)));
        r.flash = FLASH_OK;
        CHECK(HAS(tick(2100), "journal 0 ok\nstate ", "ack ", A, "refused\",\"boot_id\"") && r.pulses == 0);
        CHECK(!strstr(power_back(), "pulse"));
    }
}

static void flash_that_fails_after_the_pulses_delays_the_answer(void)
{
    enum rig_flash flash;
    for (flash = FLASH_BROKEN; flash <= FLASH_UNSURE; flash++) {
        coin_machine();
        pulse(A, 1, 600, 1100);
        r.flash = flash;
        CHECK(strcmp(pulsed(1700), "journal 1 failed\n") == 0 && nyala_device_wake(&r.device) == 2700);
        CHECK(silent(query(A, 1, 1800)) && silent(pulse(B, 2, 600, 1900)) && silent(tick(2699)));
        CHECK(strcmp(tick(2700), "journal 1 failed\n") == 0 && nyala_device_wake(&r.device) == 3700);
        r.flash = FLASH_OK;
        CHECK(HAS(tick(3700), "journal 1 ok\nstate ", "\"sisa_s\":598", "ack ", A, "started", "ack ", B, "refused"));
        CHECK(r.pulses == PULSES);
    }
}

/* A wash by pulses, up to a power cut that may come in any call of the board. */
static const char *wash(void)
{
    static char log[RIG_LOG_BYTES];
    strcpy(log, pulse(A, 1, 600, 1100));
    strcat(log, query(A, 1, 1200));
    strcat(log, pulsed(1700));
    strcat(log, pulse(A, 1, 600, 1800));
    strcat(log, tick(61700));
    return log;
}

/* Result in the messages: 0: no answer, 1: refused, 2: started. */
static int answer(const char *log)
{
    return strstr(log, "\"result\":\"started\"") ? 2 : strstr(log, "\"result\":\"refused\"") ? 1 : 0;
}

static void power_lost_at_any_moment_gives_one_answer_and_no_more_pulses(void)
{
    unsigned first, second, histories = 0, seen[3] = {0, 0, 0};
    enum rig_flash flash;
    for (first = 0; first < 14; first++)
        for (second = 0; second < 6; second++)
            for (flash = FLASH_OK; flash <= FLASH_UNSURE; flash++) {
                int before, after;
                bool marked;
                const char *log;
                coin_machine();
                r.dying = true;
                r.calls_left = first;
                r.last_flash = flash;
                before = answer(wash());
                marked = r.pulses > 0;
                /* The power is lost again while the device boots. */
                rig_off(&r);
                r.dying = true;
                r.calls_left = second;
                r.last_flash = flash;
                boot();
                CHECK(!strstr(told(), "relay on"));
                rig_off(&r);
                boot();
                log = told();
                CHECK(!strstr(log, "relay on") && !strstr(log, "pulse") && !r.relay);
                line(10);
                probe(10);
                told();
                after = answer(query(A, 1, 20));
                CHECK(before == 0 || before == after);
                CHECK(!marked || after != 0);
                /* The server repeats what has no answer. */
                pulse(A, 1, 600, 30);
                pulsed(630);
                CHECK(r.pulses <= PULSES && !r.relay);
                after = answer(query(A, 1, 700));
                CHECK(after != 0 && (after == 1 || r.pulses == PULSES));
                seen[after]++;
                histories++;
            }
    printf("   %u histories: %u refused, %u started\n", histories, seen[1], seen[2]);
    CHECK(seen[1] > 0 && seen[2] > 0);
}

static void power_lost_with_pulses_and_a_broken_flash_is_still_a_cut(void)
{
    const char *log;
    coin_machine();
    pulse(A, 1, 600, 1100);
    rig_off(&r);
    r.flash = FLASH_BROKEN;
    boot();
    line(10);
    log = told();
    CHECK(silent(log) && !strstr(log, "pulse") && silent(tick(500)));
    r.flash = FLASH_OK;
    log = tick(5000);
    CHECK(HAS(log, "journal", "state ", CUT, "\"run\":null") && r.pulses == PULSES);
}

int main(void)
{
    RUN(journal_then_pulses_then_journal_then_ack);
    RUN(between_the_marks_only_heartbeats_are_sent);
    RUN(repeats_have_the_same_answer_and_pulse_no_more);
    RUN(a_stop_changes_nothing);
    RUN(what_forbids_a_start_forbids_pulses);
    RUN(a_board_without_the_output_and_one_whose_output_fails_refuse);
    RUN(numbers_out_of_their_limits_are_refused);
    RUN(a_test_pulses_and_begins_no_run);
    RUN(power_lost_in_the_pulses_refuses_and_says_so_on_each_repeat);
    RUN(after_the_second_mark_the_run_goes_on_without_relay_or_pulses);
    RUN(flash_that_fails_before_the_pulses_refuses);
    RUN(flash_that_fails_after_the_pulses_delays_the_answer);
    RUN(power_lost_at_any_moment_gives_one_answer_and_no_more_pulses);
    RUN(power_lost_with_pulses_and_a_broken_flash_is_still_a_cut);
    return 0;
}
