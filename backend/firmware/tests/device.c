/* Rules of a device (docs/contract.md §6), checked by the calls that the board receives. */
#include "talk.h"

#include <inttypes.h>
#include <string.h>

#include "check.h"

static void boot_with(uint32_t contact_ms)
{
    setup.contact_ms = contact_ms;
    boot();
}

static void ready_with(uint32_t contact_ms)
{
    setup.contact_ms = contact_ms;
    ready();
}

/* --- messages --- */

static void nothing_is_published_before_the_subscription_is_granted(void)
{
    rig_blank(&r);
    boot_with(0);
    nyala_device_linked(&r.device, 5);
    CHECK(silent(told()));
    nyala_device_subscribed(&r.device, 9);
    CHECK(HAS(told(), "state {\"online\":true,\"boot_id\":7,\"conn\":1,\"seq\":1,\"up_ms\":9,\"epoch\":0,\"last\":null,\"run\":null,"
                      "\"fw\":\"1.0\",\"hw\":\"esp32\"}"));
    CHECK(!nyala_device_hear(&r.device, (const uint8_t *)"{}", 2, false, 10));
}

static void a_command_before_the_subscription_is_not_obeyed(void)
{
    static const char json[] = "{\"cmd_id\":\"" A "\",\"epoch\":1,\"op\":\"start\",\"durasi_s\":60,\"exp\":1900000000}";
    ready_with(0);
    nyala_device_unlinked(&r.device, 1100);
    nyala_device_linked(&r.device, 1200);
    CHECK(!nyala_device_hear(&r.device, (const uint8_t *)json, sizeof json - 1, false, 1300));
    CHECK(!r.relay && !*told());
}

static void connections_and_messages_are_counted(void)
{
    ready_with(0);
    CHECK(HAS(start(A, 1, 1100), "\"conn\":1,\"seq\":3", "\"seq\":4"));
    line(2000);
    CHECK(HAS(told(), "\"conn\":2,\"seq\":1"));
}

static void a_connected_device_sends_a_heartbeat_every_thirty_seconds(void)
{
    ready_with(0);
    CHECK(nyala_device_wake(&r.device) == 31000);
    CHECK(!*tick(30999));
    CHECK(HAS(tick(31000), "hb {\"boot_id\":7,\"conn\":1,\"seq\":3,\"up_ms\":31000}"));
    nyala_device_rssi(&r.device, -71);
    CHECK(HAS(tick(61000), "\"up_ms\":61000,\"rssi\":-71}"));
    nyala_device_unlinked(&r.device, 62000);
    CHECK(!*tick(200000) && nyala_device_wake(&r.device) == NYALA_NEVER);
}

static void the_longest_state_is_a_small_packet(void)
{
    struct nyala_setup longest = {UINT32_MAX, 0, "01234567890123456789012345678901 and more", "\"\\\n\x80 is nothing to escape, and long",
                                  "brownout and more", true, true};
    uint64_t up_ms = NYALA_WHOLE_MAX - 100000000;
    char cmd[400];
    const char *log;
    int n;
    rig_blank(&r);
    r.pulse = true;
    rig_boot(&r, &longest, up_ms);
    r.device.conn = UINT32_MAX - 1;
    line(up_ms);
    n = snprintf(cmd, sizeof cmd,
                 "{\"cmd_id\":\"" A "\",\"epoch\":%" PRIu64 ",\"op\":\"pulse\",\"n\":1,\"width_ms\":1,\"gap_ms\":1,\"durasi_s\":86400,\"exp\":%" PRIu64 ",\"now_ms\":%" PRIu64
                 ",\"echo\":%" PRIu64 "}",
                 NYALA_WHOLE_MAX, NYALA_WHOLE_MAX, NYALA_WHOLE_MAX, up_ms);
    told();
    CHECK(nyala_device_hear(&r.device, (const uint8_t *)cmd, (size_t)n, false, up_ms));
    r.device.seq = UINT32_MAX - 2;
    r.device.journal.coins = UINT32_MAX;
    r.device.journal.tambah_s = NYALA_LONGEST_WAIT_S;
    nyala_device_pulsed(&r.device, up_ms);
    log = strstr(told(), "state ") + 6;
    n = (int)strcspn(log, "\n");
    CHECK(log[n - 1] == '}' && strstr(log, "\"sisa_s\":86400") && strstr(log, "\"fw\":\"01234567890123456789012345678901\""));
    CHECK(strstr(log, "\"hw\":\"???? is nothing") && strstr(log, "\"tambah_s\":3600}"));
    CHECK(strstr(log, "\"can\":[\"pulse\",\"sense\",\"coin\"],\"sense\":false,\"coins\":4294967295,\"reset\":\"brownout\"}"));
    printf("   %d bytes of %d\n", n, NYALA_WORD_BYTES);
    CHECK(n < NYALA_WORD_BYTES);
}

/* --- clock --- */

static void without_a_clock_a_start_is_expired(void)
{
    rig_blank(&r);
    boot_with(0);
    line(1000);
    CHECK(HAS(start(A, 1, 1100), "journal 0 ok", "\"last\":{\"cmd_id\":\"" A "\",\"result\":\"expired\"}", "ack ", "expired"));
    CHECK(!r.relay);
}

static void an_exchange_of_two_seconds_does_not_set_the_clock(void)
{
    rig_blank(&r);
    boot_with(0);
    line(1000);
    say("query", NIL, 0, 0, T0 + 1000, "1000", 3000);
    CHECK(HAS(start(A, 1, 3100), "expired"));
    ready_with(0);
    line(5000);
    say("query", NIL, 0, 0, T0 + 5000, "5000", 6999);
    CHECK(HAS(start(A, 1, 7000), "relay on"));
}

static void an_answer_to_another_state_report_does_not_set_the_clock(void)
{
    rig_blank(&r);
    boot_with(0);
    line(1000);
    say("query", NIL, 0, 0, T0, "999", 1001);
    CHECK(HAS(start(A, 1, 1100), "expired"));
    /* A state report of the previous connection does not count for this one. */
    line(1200);
    nyala_device_linked(&r.device, 1201);
    r.device.subscribed = true;
    say("query", NIL, 0, 0, T0, "1200", 1202);
    CHECK(HAS(start(B, 2, 1203), "expired"));
}

static void the_clock_is_late_by_the_whole_way_and_past_exp_is_expired(void)
{
    ready_with(0);
    line(2000);
    /* Written 1.5 s after the state report and received at once: the device's clock is ahead by that delay. */
    say("query", NIL, 0, 0, T0 + 2000, "2000", 3500);
    CHECK(HAS(say("start", A, 1, 600, T0 + 2000, "null", 12001), "expired"));
    CHECK(HAS(say("start", B, 2, 600, T0 + 3000, "null", 13000), "relay on"));
}

static void the_newest_exchange_counts(void)
{
    ready_with(0);
    line(50000);
    say("query", NIL, 0, 0, T0, "50000", 50000);
    CHECK(HAS(say("start", A, 1, 600, T0, "null", 60000), "relay on"));
    CHECK(HAS(say("start", B, 2, 600, T0, "null", 60001), "expired"));
}

static void a_clock_set_an_hour_ago_is_not_used(void)
{
    ready_with(0);
    CHECK(HAS(start(A, 1, 3600999), "relay on"));
    CHECK(HAS(say("stop", A, 1, 0, T0, "null", 3600999), "relay off"));
    CHECK(HAS(start(B, 2, 3601000), "expired"));
}

/* --- start --- */

static void journal_then_relay_then_ack(void)
{
    ready_with(0);
    CHECK(HAS(start(A, 4, 1100), "journal 0 ok\nrelay on\nstate ",
              "\"epoch\":4,\"last\":{\"cmd_id\":\"" A "\",\"result\":\"started\"},\"run\":{\"cmd_id\":\"" A "\",\"sisa_s\":600}",
              "ack {\"cmd_id\":\"" A "\",\"epoch\":4,\"result\":\"started\",\"boot_id\":7,\"seq\":4,\"up_ms\":1100}"));
    CHECK(r.relay);
}

static void a_known_command_has_the_same_answer_and_starts_nothing(void)
{
    const char *log;
    ready_with(0);
    start(A, 1, 1100);
    log = start(A, 1, 1200);
    CHECK(HAS(log, "started") && !strstr(log, "relay") && !strstr(log, "journal"));
    CHECK(HAS(start(B, 2, 1300), "refused"));
    say("stop", A, 1, 0, T0, "null", 1400);
    CHECK(HAS(start(A, 1, 1500), "done") && HAS(start(B, 2, 1500), "refused"));
    log = say("start", C, 3, 600, 0, "null", 1600);
    CHECK(HAS(log, "expired") && HAS(start(C, 3, 1700), "expired") && !r.relay);
}

static void an_epoch_below_its_own_running_and_faulty_are_refused(void)
{
    ready_with(0);
    start(A, 5, 1100);
    CHECK(HAS(start(B, 6, 1200), "refused"));
    say("stop", A, 5, 0, T0, "null", 1300);
    CHECK(HAS(start(C, 5, 1400), "\"epoch\":5,\"result\":\"refused\""));
    ready_with(0);
    nyala_device_fault(&r.device, true, 1100);
    CHECK(HAS(start(A, 1, 1200), "refused"));
    nyala_device_fault(&r.device, false, 1300);
    CHECK(HAS(start(B, 1, 1400), "relay on", "started"));
}

static void an_invalid_duration_is_refused(void)
{
    ready_with(0);
    CHECK(HAS(say("start", A, 1, 0, T0 + 1000, "null", 1100), "refused"));
    CHECK(HAS(say("start", B, 1, 86401, T0 + 1000, "null", 1200), "refused"));
    CHECK(HAS(say("start", C, 1, 86400, T0 + 1000, "null", 1300), "started"));
}

static void a_retained_command_is_ignored(void)
{
    char json[300];
    int n = snprintf(json, sizeof json, "{\"cmd_id\":\"" A "\",\"epoch\":1,\"op\":\"start\",\"durasi_s\":60,\"exp\":1900000000}");
    ready_with(0);
    CHECK(!nyala_device_hear(&r.device, (const uint8_t *)json, (size_t)n, true, 1100));
    CHECK(!*told() && !r.relay && r.device.journal.epoch == 0);
}

static void the_oldest_command_is_forgotten_and_never_the_one_that_runs(void)
{
    char id[48];
    int i;
    ready_with(0);
    start(A, 1, 1100);
    for (i = 0; i < 40; i++) {
        snprintf(id, sizeof id, "00000000-0000-4000-8000-0000000000%02d", i);
        CHECK(HAS(start(id, 1, 1200), "refused"));
    }
    CHECK(HAS(start(A, 1, 1300), "started") && r.relay);
    say("stop", A, 1, 0, T0, "null", 1350);
    CHECK(HAS(start("00000000-0000-4000-8000-000000000039", 1, 1400), "refused"));
    CHECK(HAS(start("00000000-0000-4000-8000-000000000025", 1, 1400), "refused"));
    CHECK(HAS(start("00000000-0000-4000-8000-000000000024", 1, 1400), "started"));
}

/* --- query, stop --- */

static void a_query_raises_the_epoch_and_answers_state_and_ack(void)
{
    const char *log;
    ready_with(0);
    start(A, 1, 1100);
    log = query(A, 3, 1200);
    CHECK(HAS(log, "journal 1 ok\nstate ", "\"epoch\":3", "ack ", "started"));
    say("stop", A, 1, 0, T0, "null", 1300);
    CHECK(HAS(start(B, 2, 1400), "refused"));
    CHECK(HAS(start(C, 3, 1400), "started"));
}

static void a_query_for_what_is_not_known_is_expired_only_when_it_is_too_late(void)
{
    const char *log;
    ready_with(0);
    log = query(A, 1, 1100);
    CHECK(HAS(log, "state ") && !strstr(log, "ack "));
    CHECK(HAS(start(A, 1, 1200), "started"));
    say("stop", A, 1, 0, T0, "null", 1300);
    log = say("query", B, 2, 600, T0 - 20000, "null", 1400);
    CHECK(HAS(log, "journal", "\"last\":{\"cmd_id\":\"" B "\",\"result\":\"expired\"}", "ack ", "expired"));
    CHECK(HAS(start(B, 2, 1500), "expired") && !r.relay);
    power_back();
    line(100);
    CHECK(HAS(told(), B "\",\"result\":\"expired\""));
    probe(100);
    CHECK(HAS(start(B, 2, 200), "expired") && !r.relay);
}

static void the_nil_command_asks_for_a_state_and_nothing_is_remembered(void)
{
    const char *log;
    ready_with(0);
    log = say("query", NIL, 9, 0, 0, "null", 1100);
    CHECK(HAS(log, "state ", "\"epoch\":0,\"last\":null") && !strstr(log, "ack ") && !strstr(log, "journal"));
    log = say("start", NIL, 9, 600, T0 + 1000, "null", 1100);
    CHECK(HAS(log, "state ") && !strstr(log, "relay"));
}

static void stop_ends_the_run_and_reports_done_at_any_epoch(void)
{
    const char *log;
    ready_with(0);
    start(A, 5, 1100);
    log = say("stop", B, 5, 0, T0, "null", 1200);
    CHECK(HAS(log, "state ") && !strstr(log, "ack ") && r.relay);
    log = say("stop", C, 5, 0, 0, "null", 1200);
    CHECK(HAS(log, "state ", "ack ", C, "expired") && r.relay);
    log = say("stop", A, 1, 0, 0, "null", 1300);
    CHECK(HAS(log, "relay off\njournal ", "state ", "\"run\":null", "ack ", "done"));
    CHECK(HAS(say("stop", A, 1, 0, 0, "null", 1400), "state ", "ack ", "done"));
}

/* --- time and power --- */

static void it_turns_itself_off_alone(void)
{
    const char *log;
    ready_with(0);
    start(A, 1, 1100);
    nyala_device_unlinked(&r.device, 1200);
    CHECK(nyala_device_wake(&r.device) == 61100);
    tick(601099);
    CHECK(r.relay && nyala_device_wake(&r.device) == 601100);
    log = tick(601100);
    CHECK(HAS(log, "relay off\njournal") && silent(log) && nyala_device_wake(&r.device) == NYALA_NEVER);
    line(700000);
    CHECK(HAS(told(), "\"result\":\"done\"},\"run\":null"));
}

static void a_connected_device_reports_the_end_of_its_run(void)
{
    ready_with(0);
    start(A, 1, 1100);
    CHECK(HAS(tick(601100), "relay off\njournal ", "state ", "done", "\"run\":null", "ack ", "\"epoch\":1,\"result\":\"done\""));
}

static void a_run_that_is_over_is_no_reason_to_refuse(void)
{
    ready_with(0);
    start(A, 1, 1100);
    CHECK(HAS(start(B, 2, 601100), "relay off\n", "done", "ack ", A, "relay on\n", "ack ", B, "started"));
}

static void the_time_left_is_saved_every_minute_and_resumed_after_a_power_loss(void)
{
    ready_with(0);
    start(A, 1, 1100);
    CHECK(!strstr(tick(61099), "journal"));
    CHECK(HAS(tick(61100), "journal 1 ok"));
    tick(100000);
    /* A record that is saved for another reason also has the time left. */
    CHECK(HAS(start(B, 2, 101100), "journal 0 ok"));
    CHECK(HAS(power_back(), "relay off\njournal 1 ok\nrelay on\n"));
    line(500);
    CHECK(HAS(told(), "\"epoch\":2,\"last\":{\"cmd_id\":\"" B "\",\"result\":\"refused\"},\"run\":{\"cmd_id\":\"" A "\",\"sisa_s\":500}"));
    CHECK(HAS(start(A, 1, 600), "started"));
    tick(499999);
    CHECK(r.relay && HAS(tick(500000), "relay off") && !r.relay);
    CHECK(!strstr(power_back(), "relay on"));
}

static void a_run_that_power_interrupts_again_and_again_ends(void)
{
    int boots;
    ready_with(0);
    start(A, 1, 1100);
    for (boots = 0; r.relay; boots++)
        power_back();
    CHECK(boots == NYALA_RESUMES + 1);
    line(10);
    CHECK(HAS(told(), "done", "\"run\":null"));
}

static void the_program_ends_in_order(void)
{
    ready_with(0);
    start(A, 1, 1100);
    nyala_device_end(&r.device, 31100);
    CHECK(HAS(told(), "relay off\njournal 1 ok\nstate {\"online\":false,\"boot_id\":7,\"conn\":1}"));
    CHECK(HAS(power_back(), "relay on"));
    line(10);
    CHECK(HAS(told(), "\"sisa_s\":570"));
}

/* --- flash --- */

static void a_start_that_cannot_be_saved_is_refused_once_that_can(void)
{
    enum rig_flash flash;
    for (flash = FLASH_BROKEN; flash <= FLASH_UNSURE; flash++) {
        const char *log;
        ready_with(0);
        r.flash = flash;
        log = start(A, 1, 1100);
        CHECK(HAS(log, "journal 0 failed") && silent(log) && !strstr(log, "relay on") && !r.relay);
        /* No state report either: a machine that cannot save its journal must not be sold. */
        CHECK(silent(say("query", NIL, 0, 0, T0, "null", 1200)));
        CHECK(silent(start(B, 2, 1300)) && silent(tick(2099)));
        r.flash = FLASH_OK;
        CHECK(HAS(tick(2100), "journal 0 ok", "state ", "ack ", A, "refused", "ack ", B, "refused"));
        CHECK(!strstr(power_back(), "relay on"));
        line(10);
        CHECK(HAS(told(), B "\",\"result\":\"refused\"},\"run\":null"));
    }
}

static void power_lost_with_a_record_costs_that_record_only(void)
{
    ready_with(0);
    start(A, 1, 1100);
    r.flash = FLASH_TORN;
    tick(61100);
    tick(62100);
    r.flash = FLASH_OK;
    CHECK(HAS(power_back(), "journal 1 ok\nrelay on"));
    line(10);
    CHECK(HAS(told(), A, "\"sisa_s\":600"));
}

static void a_run_does_not_go_on_before_that_is_saved(void)
{
    ready_with(0);
    start(A, 1, 1100);
    rig_off(&r);
    r.flash = FLASH_BROKEN;
    boot_with(0);
    CHECK(!r.relay && !strstr(told(), "relay on"));
    line(100);
    CHECK(silent(told()) && silent(tick(500)));
    r.flash = FLASH_OK;
    CHECK(HAS(tick(5000), "journal", "relay on\nstate ", "\"sisa_s\":600"));
}

static void a_journal_of_nonsense_is_an_empty_one(void)
{
    unsigned i;
    ready_with(0);
    start(A, 1, 1100);
    tick(61100);
    for (i = 0; i < NYALA_RECORD_BYTES * 8; i += 7) {
        struct nyala_journal journal;
        uint8_t record[NYALA_RECORD_BYTES];
        memcpy(record, r.slots[0], sizeof record);
        CHECK(nyala_journal_read(&journal, record, NULL) == 0);
        record[i / 8] ^= (uint8_t)(1u << i % 8);
        CHECK(nyala_journal_read(&journal, record, NULL) == -1 && journal.number == 0);
        CHECK(nyala_journal_read(&journal, record, r.slots[1]) == 1 && nyala_journal_read(&journal, r.slots[1], record) == 0);
    }
}

/* --- relay, contacts --- */

static void a_relay_that_does_not_close_is_refused(void)
{
    const char *log;
    ready_with(0);
    r.relay_broken = true;
    log = start(A, 1, 1100);
    CHECK(HAS(log, "journal 0 ok\nrelay on failed\nrelay off failed\njournal 1 ok\nstate ", "refused", "ack ", "refused"));
    CHECK(HAS(start(B, 2, 1200), "refused"));
    r.relay_broken = false;
    CHECK(HAS(tick(2100), "relay off\n") && HAS(start(C, 3, 2200), "relay on\n"));
}

static void a_start_waits_for_the_running_contact(void)
{
    const char *log;
    ready_with(5000);
    log = start(A, 1, 1100);
    CHECK(HAS(log, "journal 0 ok\nrelay on\n") && silent(log));
    CHECK(silent(query(A, 1, 1200)) && silent(start(A, 1, 1300)) && silent(tick(2000)));
    nyala_device_contact(&r.device, true, 3000);
    log = told();
    CHECK(HAS(log, "journal 1 ok\nstate ", "started", "\"run\":{", "ack ", "started") && !strstr(strstr(log, "ack ") + 4, "ack "));
    nyala_device_contact(&r.device, false, 4000);
    CHECK(!*told() && r.relay && !strstr(tick(7000), "relay"));
    /* After the power returns, the run is still a confirmed one: it does not wait for the contact again. */
    CHECK(HAS(power_back(), "relay on"));
    line(10);
    CHECK(HAS(told(), "\"run\":{"));
}

static void a_running_contact_that_does_not_come_refuses(void)
{
    ready_with(5000);
    start(A, 1, 1100);
    CHECK(nyala_device_wake(&r.device) == 6100 && !*tick(6099));
    CHECK(HAS(tick(6100), "relay off\njournal 1 ok\nstate ", "refused\"},\"run\":null", "ack ", "refused"));
    nyala_device_contact(&r.device, true, 6200);
    CHECK(!*told() && !r.relay && HAS(start(B, 1, 6300), "refused"));
    nyala_device_contact(&r.device, false, 6400);
    CHECK(HAS(start(C, 1, 6500), "relay on"));
    CHECK(HAS(say("stop", C, 1, 0, T0, "null", 6600), "relay off", "ack ", "refused"));
}

static void power_lost_before_the_running_contact_refuses(void)
{
    const char *log;
    ready_with(5000);
    start(A, 1, 1100);
    log = power_back();
    CHECK(HAS(log, "journal 1 ok") && !strstr(log, "relay on"));
    line(10);
    CHECK(HAS(told(), A "\",\"result\":\"refused\"},\"run\":null"));
}

int main(void)
{
    RUN(nothing_is_published_before_the_subscription_is_granted);
    RUN(a_command_before_the_subscription_is_not_obeyed);
    RUN(connections_and_messages_are_counted);
    RUN(a_connected_device_sends_a_heartbeat_every_thirty_seconds);
    RUN(the_longest_state_is_a_small_packet);
    RUN(without_a_clock_a_start_is_expired);
    RUN(an_exchange_of_two_seconds_does_not_set_the_clock);
    RUN(an_answer_to_another_state_report_does_not_set_the_clock);
    RUN(the_clock_is_late_by_the_whole_way_and_past_exp_is_expired);
    RUN(the_newest_exchange_counts);
    RUN(a_clock_set_an_hour_ago_is_not_used);
    RUN(journal_then_relay_then_ack);
    RUN(a_known_command_has_the_same_answer_and_starts_nothing);
    RUN(an_epoch_below_its_own_running_and_faulty_are_refused);
    RUN(an_invalid_duration_is_refused);
    RUN(a_retained_command_is_ignored);
    RUN(the_oldest_command_is_forgotten_and_never_the_one_that_runs);
    RUN(a_query_raises_the_epoch_and_answers_state_and_ack);
    RUN(a_query_for_what_is_not_known_is_expired_only_when_it_is_too_late);
    RUN(the_nil_command_asks_for_a_state_and_nothing_is_remembered);
    RUN(stop_ends_the_run_and_reports_done_at_any_epoch);
    RUN(it_turns_itself_off_alone);
    RUN(a_connected_device_reports_the_end_of_its_run);
    RUN(a_run_that_is_over_is_no_reason_to_refuse);
    RUN(the_time_left_is_saved_every_minute_and_resumed_after_a_power_loss);
    RUN(a_run_that_power_interrupts_again_and_again_ends);
    RUN(the_program_ends_in_order);
    RUN(a_start_that_cannot_be_saved_is_refused_once_that_can);
    RUN(power_lost_with_a_record_costs_that_record_only);
    RUN(a_run_does_not_go_on_before_that_is_saved);
    RUN(a_journal_of_nonsense_is_an_empty_one);
    RUN(a_relay_that_does_not_close_is_refused);
    RUN(a_start_waits_for_the_running_contact);
    RUN(a_running_contact_that_does_not_come_refuses);
    RUN(power_lost_before_the_running_contact_refuses);
    return 0;
}
