/* Sensor and coins (docs/contract.md §6): when a level counts, how it moves the end of a run, and which coins are on flash. */
#include "talk.h"

#include <inttypes.h>
#include <string.h>

#include "check.h"

static void coin_machine(void)
{
    can_pulse = setup.sense = setup.coin = true;
    setup.reset = "brownout";
    ready();
}

static const char *sense(bool high, uint64_t up_ms)
{
    nyala_device_sense(&r.device, high, up_ms);
    return told();
}

static const char *coin(uint64_t up_ms)
{
    nyala_device_coin(&r.device, up_ms);
    return told();
}

/* A paid run of ten minutes whose pulses are sent at 10000; Start is not pressed yet. */
static void paid(void)
{
    coin_machine();
    pulse(A, 1, 600, 9400);
    CHECK(HAS(pulsed(10000), "\"sisa_s\":600}", "started"));
}

/* The same, and the machine runs since 100000. */
static void washing(void)
{
    paid();
    sense(true, 98000);
    CHECK(HAS(tick(100000), "\"sisa_s\":600,\"tambah_s\":90}"));
}

/* Lets the board call at each wake until that time, as a board does; returns the uptime at which the run was over, or 0. */
static uint64_t passes(uint64_t until_ms)
{
    uint64_t over_ms = 0;
    while (nyala_device_wake(&r.device) <= until_ms) {
        uint64_t wake = nyala_device_wake(&r.device);
        bool ran = r.device.running >= 0;
        const char *log = tick(wake > r.device.up_ms ? wake : r.device.up_ms);
        CHECK(*log);
        if (ran && r.device.running < 0)
            over_ms = r.device.up_ms;
    }
    tick(until_ms);
    return over_ms;
}

/* --- levels --- */

static void a_board_says_what_it_can_and_no_more(void)
{
    coin_machine();
    CHECK(HAS(query(NIL, 0, 1100), "\"hw\":\"esp32\",\"can\":[\"pulse\",\"sense\",\"coin\"],\"sense\":false,\"coins\":0,\"reset\":\"brownout\"}"));
    CHECK(HAS(tick(31000), "\"up_ms\":31000,\"sense\":false,\"coins\":0}"));
    setup.coin = can_pulse = false;
    setup.reset = NULL;
    ready();
    coin(1050);
    CHECK(HAS(query(NIL, 0, 1100), "\"hw\":\"esp32\",\"can\":[\"sense\"],\"sense\":false}"));
    CHECK(HAS(tick(31000), "\"up_ms\":31000,\"sense\":false}"));
    setup.sense = false;
    ready();
    sense(true, 1100);
    CHECK(HAS(query(NIL, 0, 5000), "\"hw\":\"esp32\"}") && HAS(tick(31000), "\"up_ms\":31000}"));
}

static void a_level_counts_after_two_seconds(void)
{
    coin_machine();
    CHECK(!*sense(true, 2000) && nyala_device_wake(&r.device) == 4000 && !*tick(3999));
    CHECK(HAS(tick(4000), "state ", "\"run\":null", "\"sense\":true") && nyala_device_wake(&r.device) == 31000);
    /* It bounces: each change restarts the two seconds, and a return to the level that counts is no change. */
    CHECK(!*sense(false, 5000) && !*sense(true, 6999) && nyala_device_wake(&r.device) == 31000 && !*tick(9000));
    CHECK(!*sense(false, 10000) && !*sense(true, 10100) && !*sense(false, 10200) && !*sense(false, 11000) && !*tick(12199));
    CHECK(HAS(tick(12200), "state ", "\"sense\":false") && nyala_device_wake(&r.device) == 31000);
    /* A board that calls late does not lose what lasted long enough. */
    CHECK(!*sense(true, 20000) && HAS(sense(false, 25000), "\"sense\":true") && HAS(tick(27000), "\"sense\":false"));
}

static void a_machine_that_somebody_else_runs_gets_no_pulses(void)
{
    coin_machine();
    sense(true, 2000);
    CHECK(HAS(pulse("6f1d6c1e-0000-4000-8000-0000000000e1", 1, 600, 2500), "refused") && r.pulses == 0);
    tick(4000);
    CHECK(HAS(pulse(A, 1, 600, 5000), "refused") && HAS(pulse(B, 1, 0, 5000), "refused") && r.pulses == 0);
    sense(false, 6000);
    tick(8000);
    CHECK(HAS(pulse(C, 1, 600, 8100), "pulse 4"));
}

/* --- the end of a run --- */

static void a_run_without_the_sensor_ends_by_its_time(void)
{
    paid();
    CHECK(passes(700000) == 610000);
    CHECK(HAS(query(A, 1, 700000), "\"run\":null", "ack ", "done"));
}

static void the_first_rise_begins_the_time_again(void)
{
    paid();
    sense(true, 98500);
    CHECK(HAS(tick(100500), "journal 1 ok\nstate ", "\"sisa_s\":600,\"tambah_s\":90}", "\"sense\":true"));
    /* Only the first one. */
    sense(false, 110000);
    CHECK(HAS(tick(112000), "\"sisa_s\":588,\"tambah_s\":90}", "\"sense\":false"));
    sense(true, 120000);
    CHECK(HAS(tick(122000), "\"sisa_s\":578,\"tambah_s\":90}", "\"sense\":true"));
    sense(false, 600000);
    CHECK(passes(600000) == 0 && passes(2000000) == 662000);
}

static void a_rise_in_the_pulses_is_the_beginning(void)
{
    coin_machine();
    pulse(A, 1, 600, 1100);
    CHECK(!*sense(true, 1200) && !*tick(3200));
    CHECK(HAS(pulsed(7000), "journal 1 ok\nstate ", "\"sisa_s\":600},", "\"sense\":true", "ack ", "started"));
    CHECK(r.device.journal.risen && r.device.journal.tambah_s == 0);
    tick(60000);
    sense(false, 65000);
    CHECK(passes(1000000) == 127000);
}

static void standing_still_after_a_minute_is_the_end(void)
{
    const char *log;
    washing();
    /* The motor pauses for less than a minute: that is no end. */
    sense(false, 300000);
    CHECK(HAS(tick(302000), "\"run\":{", "\"sense\":false") && nyala_device_wake(&r.device) < 362000);
    sense(true, 359999);
    CHECK(HAS(tick(361999), "\"run\":{", "\"sense\":true"));
    sense(false, 400000);
    tick(402000);
    passes(461999);
    log = tick(462000);
    CHECK(HAS(log, "journal", "state ", "\"run\":null", "ack ", A, "\"epoch\":1,\"result\":\"done\"") && !strstr(log, "relay"));
}

static void less_than_a_minute_is_no_wash(void)
{
    washing();
    sense(false, 150000);
    CHECK(passes(1000000) == 700000);
    /* Minutes add up over pauses, and sense_s is the command's. */
    coin_machine();
    say("pulse", A, 1, 600, T0 + 1000, "null,\"n\":1,\"width_ms\":50,\"gap_ms\":50,\"sense_s\":5", 1000);
    pulsed(10000);
    sense(true, 10000);
    passes(42000);
    sense(false, 42000);
    passes(100000);
    sense(true, 100000);
    passes(127999);
    sense(false, 127999);
    CHECK(passes(200000) == 0 && r.device.journal.high_ms == 59999);
    sense(true, 200000);
    passes(202001);
    sense(false, 202001);
    CHECK(passes(1000000) == 209001);
}

static void a_machine_that_still_runs_at_the_end_gets_a_minute_at_a_time(void)
{
    washing();
    CHECK(passes(689999) == 0);
    CHECK(HAS(tick(690000), "journal", "state ", "\"sisa_s\":70,\"tambah_s\":150}"));
    CHECK(passes(749999) == 0 && HAS(tick(750000), "\"sisa_s\":70,\"tambah_s\":210}"));
    sense(false, 760000);
    /* After the end by its time there is no waiting for sense_s. */
    CHECK(passes(900000) == 820000);
}

static void a_stuck_sensor_moves_the_end_by_an_hour_at_most(void)
{
    washing();
    CHECK(passes(10000000) == 10000 + 600000 + 3600000);
    CHECK(HAS(query(A, 1, 10000000), "\"run\":null", "\"sense\":true", "done"));
    /* Also when the rise comes so late that the wait alone is more. */
    coin_machine();
    pulse(A, 1, 7200, 9400);
    pulsed(10000);
    sense(true, 4998000);
    CHECK(HAS(tick(5000000), "\"tambah_s\":3600}"));
    CHECK(passes(20000000) == 10000 + 7200000 + 3600000);
    /* The last step is what is left of the hour. */
    coin_machine();
    pulse(A, 1, 600, 9400);
    pulsed(10000);
    sense(true, 30500);
    tick(32500);
    CHECK(passes(20000000) / 1000 == 10 + 600 + 3600 && r.device.journal.tambah_s == 3600);
}

static void a_power_cut_keeps_what_the_sensor_has_moved(void)
{
    washing();
    tick(160000);
    power_back();
    line(10);
    CHECK(HAS(told(), "\"sisa_s\":540,\"tambah_s\":90}", "\"sense\":false"));
    /* It ran before the cut, so this rise does not restart the countdown; and its minute counts. */
    sense(true, 1000);
    CHECK(HAS(tick(3000), "\"sisa_s\":537,\"tambah_s\":90}", "\"sense\":true"));
    sense(false, 4000);
    CHECK(passes(1000000) == 66000);
    /* Before the first rise. */
    paid();
    tick(70000);
    power_back();
    line(10);
    told();
    sense(true, 58000);
    CHECK(HAS(tick(60000), "\"sisa_s\":600,\"tambah_s\":120}"));
    /* Off since before the boot: that counts from the boot. */
    washing();
    tick(160000);
    sense(false, 161000);
    power_back();
    CHECK(passes(1000000) == 62000);
}

static void only_pulses_are_moved_by_the_sensor(void)
{
    coin_machine();
    start(A, 1, 1100);
    sense(true, 2000);
    CHECK(HAS(tick(4000), "\"sisa_s\":598}", "\"sense\":true"));
    sense(false, 100000);
    CHECK(passes(1000000) == 601100 && !r.relay);
}

static void flash_that_fails_delays_the_word_of_a_later_end(void)
{
    paid();
    r.flash = FLASH_BROKEN;
    sense(true, 98000);
    CHECK(silent(tick(100000)) && silent(tick(101000)));
    r.flash = FLASH_OK;
    CHECK(HAS(tick(102000), "journal", "\"sisa_s\":598,\"tambah_s\":90}", "\"sense\":true"));
}

/* --- coins --- */

static void a_coin_is_saved_and_said_at_once(void)
{
    coin_machine();
    CHECK(HAS(coin(10000), "journal 0 ok\nhb ", "\"up_ms\":10000,\"sense\":false,\"coins\":1}"));
    CHECK(nyala_device_wake(&r.device) == 40000);
}

static void coins_are_saved_once_a_minute_and_only_saved_ones_are_said(void)
{
    coin_machine();
    coin(10000);
    CHECK(!*coin(11000) && !*coin(12000) && nyala_device_wake(&r.device) == 40000);
    CHECK(HAS(query(NIL, 0, 13000), "\"coins\":1") && HAS(tick(40000), "hb ", "\"coins\":1}") && nyala_device_wake(&r.device) == 70000);
    CHECK(HAS(tick(70000), "journal 1 ok\nhb ", "\"coins\":3}"));
    /* Whatever else is saved takes them along. The heartbeat comes five seconds after the last one. */
    CHECK(!*coin(71000));
    CHECK(HAS(query(NIL, 0, 71500), "\"coins\":3"));
    nyala_device_unlinked(&r.device, 71600);
    coin(71700);
    line(71800);
    CHECK(HAS(told(), "\"coins\":3"));
    CHECK(HAS(query(A, 9, 72000), "journal 0 ok\nstate ", "\"coins\":5"));
    /* Without a connection they are counted, too. */
    nyala_device_unlinked(&r.device, 73000);
    CHECK(!*coin(74000) && nyala_device_wake(&r.device) == 132000 && HAS(tick(132000), "journal 1 ok\n"));
    line(140000);
    CHECK(HAS(told(), "\"coins\":6"));
}

static void a_heartbeat_for_coins_comes_every_five_seconds_at_most(void)
{
    uint64_t up_ms, last_ms = 0;
    unsigned beats = 0;
    coin_machine();
    for (up_ms = 2000; up_ms < 302000; up_ms += 100) {
        const char *log = coin(up_ms);
        if (!strstr(log, "hb "))
            continue;
        CHECK(up_ms - last_ms >= 5000);
        last_ms = up_ms;
        beats++;
    }
    /* Five for the five saves; between them, those of every thirty seconds. */
    CHECK(beats == 10);
}

static void a_power_cut_costs_the_coins_of_a_minute(void)
{
    coin_machine();
    coin(10000);
    coin(20000);
    power_back();
    line(10);
    CHECK(HAS(told(), "\"coins\":1"));
    /* The first coin after a boot is saved at once. */
    CHECK(HAS(coin(6000), "journal", "hb ", "\"coins\":2}"));
    coin(7000);
    nyala_device_end(&r.device, 8000);
    CHECK(HAS(told(), "journal"));
    power_back();
    line(10);
    CHECK(HAS(told(), "\"coins\":3"));
}

static void a_coin_that_cannot_be_saved_is_not_said(void)
{
    coin_machine();
    r.flash = FLASH_BROKEN;
    CHECK(strcmp(coin(10000), "journal 0 failed\n") == 0 && nyala_device_wake(&r.device) == 11000);
    CHECK(HAS(tick(31000), "journal 0 failed\nhb ", "\"coins\":0}") && silent(pulse(A, 1, 600, 31100)) && r.pulses == 0);
    r.flash = FLASH_OK;
    CHECK(HAS(tick(32000), "journal 0 ok\n", "state ", "\"coins\":1", "ack ", "refused"));
}

static void coins_fall_before_in_and_after_pulses(void)
{
    coin_machine();
    coin(7000);
    pulse(A, 1, 600, 8000);
    CHECK(!strstr(coin(68100), "journal") && nyala_device_wake(&r.device) > 68100);
    CHECK(HAS(pulsed(68600), "journal", "\"coins\":2", "ack "));
    CHECK(!*coin(69000) && HAS(query(A, 2, 69100), "journal", "\"coins\":3"));
    /* A count that is full stays full. */
    r.device.journal.coins = UINT32_MAX;
    coin(200000);
    CHECK(r.device.journal.coins == UINT32_MAX);
}

/* --- version 1 of the record --- */

static void a_record_of_version_1_is_read(void)
{
    /* As an older program wrote it: two commands known, the second one runs with nine minutes left. */
    static const uint8_t head[] = {'N', 'Y', 'J', 1, 5, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0x60, 0x3d, 0x08, 0, 1, 2};
    static const uint8_t sum[] = {0xc6, 0x7e, 0x3d, 0xb2};
    struct nyala_journal journal;
    uint8_t record[NYALA_RECORD_BYTES];
    memset(record, 0, sizeof record);
    memcpy(record, head, sizeof head);
    memset(record + 26, 0xaa, 16);
    record[42] = NYALA_DONE;
    memset(record + 43, 0xbb, 16);
    record[59] = NYALA_STARTED;
    memcpy(record + NYALA_RECORD_1_BYTES - 4, sum, sizeof sum);
    /* What follows the shorter record may be anything. */
    memset(record + NYALA_RECORD_1_BYTES, 0xff, NYALA_RECORD_BYTES - NYALA_RECORD_1_BYTES);
    CHECK(nyala_journal_read(&journal, record, NULL) == 0);
    CHECK(journal.number == 5 && journal.epoch == 3 && journal.rest_ms == 540000 && journal.last == 1 && journal.resumed == 2);
    CHECK(journal.known[0].result == NYALA_DONE && nyala_journal_running(&journal) == 1 && journal.coins == 0 && !journal.risen);
    coin_machine();
    rig_off(&r);
    memcpy(r.slots[1], record, sizeof record);
    r.there[0] = false;
    r.there[1] = true;
    boot();
    CHECK(HAS(told(), "journal 0 ok\nrelay on"));
    /* The next boot prefers the newer record, of version 2. */
    CHECK(r.slots[0][3] == 2 && nyala_journal_read(&journal, r.slots[0], r.slots[1]) == 0 && journal.number == 6);
    record[3] = 3;
    CHECK(nyala_journal_read(&journal, record, NULL) == -1);
}

static void a_record_keeps_everything(void)
{
    struct nyala_journal one, two;
    uint8_t record[NYALA_RECORD_BYTES];
    memset(&one, 0, sizeof one);
    one.number = 7;
    one.coins = UINT32_MAX;
    one.duration_s = NYALA_LONGEST_RUN_S;
    one.sense_s = NYALA_MOST_SENSE_S;
    one.tambah_s = NYALA_LONGEST_WAIT_S;
    one.high_ms = NYALA_HIGH_MS;
    one.risen = true;
    one.known[3].result = NYALA_CREDITED;
    one.known[4].result = NYALA_CUT;
    nyala_journal_write(&one, record);
    CHECK(nyala_journal_read(&two, record, NULL) == 0 && nyala_journal_running(&two) == 3 && two.known[4].result == NYALA_CUT);
    CHECK(two.coins == one.coins && two.duration_s == one.duration_s && two.sense_s == one.sense_s && two.tambah_s == one.tambah_s);
    CHECK(two.high_ms == one.high_ms && two.risen);
    /* At most one runs. */
    one.known[5].result = NYALA_PULSING;
    nyala_journal_write(&one, record);
    CHECK(nyala_journal_read(&two, record, NULL) == -1);
    one.known[5].result = NYALA_STARTED;
    nyala_journal_write(&one, record);
    CHECK(nyala_journal_read(&two, record, NULL) == -1);
}

int main(void)
{
    RUN(a_board_says_what_it_can_and_no_more);
    RUN(a_level_counts_after_two_seconds);
    RUN(a_machine_that_somebody_else_runs_gets_no_pulses);
    RUN(a_run_without_the_sensor_ends_by_its_time);
    RUN(the_first_rise_begins_the_time_again);
    RUN(a_rise_in_the_pulses_is_the_beginning);
    RUN(standing_still_after_a_minute_is_the_end);
    RUN(less_than_a_minute_is_no_wash);
    RUN(a_machine_that_still_runs_at_the_end_gets_a_minute_at_a_time);
    RUN(a_stuck_sensor_moves_the_end_by_an_hour_at_most);
    RUN(a_power_cut_keeps_what_the_sensor_has_moved);
    RUN(only_pulses_are_moved_by_the_sensor);
    RUN(flash_that_fails_delays_the_word_of_a_later_end);
    RUN(a_coin_is_saved_and_said_at_once);
    RUN(coins_are_saved_once_a_minute_and_only_saved_ones_are_said);
    RUN(a_heartbeat_for_coins_comes_every_five_seconds_at_most);
    RUN(a_power_cut_costs_the_coins_of_a_minute);
    RUN(a_coin_that_cannot_be_saved_is_not_said);
    RUN(coins_fall_before_in_and_after_pulses);
    RUN(a_record_of_version_1_is_read);
    RUN(a_record_keeps_everything);
    return 0;
}
