// Device program for the ESP32 (docs/devices.md): the core of this folder with WiFi, NVS as flash, and some pins.
//
// NOT COMPILED HERE: this checkout builds and tests only the core, not this file. Try it on a bench, with a lamp as the machine,
// before it is near mains. Written for the Arduino core for ESP32 3.x. `make esp32` in backend/firmware copies the sketch and the
// core into a folder that the Arduino IDE opens; fill in login.h beside it.
#include <Preferences.h>
#include <atomic>
#include <WiFi.h>
#include <WiFiClientSecure.h>
#include <driver/gpio.h>
#include <esp_random.h>
#include <esp_system.h>
#include <esp_task_wdt.h>
#include <esp_timer.h>

extern "C" {
#include "src/line.h"
}

#include "login.h"

// Pins. -1: not wired. An output must be low from power-up until setup() sets it; docs/devices.md lists the pins that are not:
//   ESP32     no output: 0, 2, 5, 12, 14, 15, 34 to 39; reported high for moments at power-up: 26, 27, 32, 33
//   ESP32-C3  no output: 2, 8, 9, 12 to 19; low but for 5 ns: 6, 7, 10, 20. Take 3 for the pulses
//   ESP32-S3  no output: 18 to 21
// Each output has a resistor of 10 kOhm to ground. Measure at your board all the same.
// Most relay modules close at LOW; then set RELAY_ON to LOW.
constexpr int RELAY_PIN = 23;
constexpr int RELAY_ON = HIGH;
// Coin contact: an optocoupler or a photoMOS, closed at HIGH; never a module that closes at LOW, because 30 ms are a coin. The stage
// conducts only while ARM_PIN is HIGH, too.
constexpr int PULSE_PIN = -1;
constexpr int ARM_PIN = -1;
// Sensor of a machine that pulses start: an optocoupler pulls it to ground while the machine runs (door lock or motor).
constexpr int SENSE_PIN = -1;
// Coin acceptor: pulls it to ground for each coin. A shorter pulse is static, and no coin follows another so soon.
constexpr int COIN_PIN = -1;
constexpr int64_t COIN_MIN_US = 20000;
constexpr int64_t COIN_APART_US = 40000;
// true: the acceptor and PULSE_PIN are at the same input of the machine. Then pulses of this board are no coins.
constexpr bool COIN_SHARES_INPUT = false;
// Running contact: an optocoupler pulls it to ground while the machine runs. -1: no contact, each start counts as running.
constexpr int RUNNING_PIN = -1;
constexpr uint32_t RUNNING_WITHIN_MS = 5000;
// An optocoupler behind a mains lamp gives a pulse in each half wave. Without a pulse for this long, the lamp is off.
constexpr uint32_t PULSE_MS = 50;
// A loop that takes longer is stuck, and the board restarts: the relay opens, and the journal closes it again.
constexpr uint32_t WATCHDOG_MS = 30000;
// Time limit of the TCP connection, and of the TLS handshake. The core has its own limits for what follows.
constexpr int32_t CONNECT_MS = 4000;
constexpr uint32_t CONNECT_STACK = 10240;

// Running contact or sensor. Here, because the Arduino IDE declares all functions before the first one.
struct Input {
    int pin;
    void (*tell)(nyala_device *, bool, uint64_t);
    volatile uint32_t pulseAt;
    volatile bool pulsed;
    bool told, seen;
    uint32_t since;
};

static nyala_line line;
static Preferences flash;
static WiFiClient plain;
static WiFiClientSecure secure;
// Received bytes that the core has not consumed.
static uint8_t in[256];
static size_t inN = 0;
static bool open_ = false;

static uint64_t upMs() { return (uint64_t)(esp_timer_get_time() / 1000); }

static WiFiClient &client() {
    if (NYALA_CA) return secure;
    return plain;
}

// --- functions that the core needs from a board ---

static const char *slotName(unsigned slot) { return slot == 0 ? "a" : "b"; }

// NVS writes the new value before it erases the old one, and returns once it is on flash.
static bool save(void *, unsigned slot, const uint8_t *record) {
    return flash.putBytes(slotName(slot), record, NYALA_RECORD_BYTES) == NYALA_RECORD_BYTES;
}

// gpio_set_level also sets the level of a pin that is no output yet, unlike digitalWrite.
static void setRelay(bool on) { gpio_set_level((gpio_num_t)RELAY_PIN, on == (RELAY_ON == HIGH) ? 1 : 0); }

// Timer that opens the relay at the end of the run, even while the loop waits for a connection.
static esp_timer_handle_t runEnds;

static bool relay(void *, bool on) {
    if (RELAY_PIN < 0) return !on;
    esp_timer_stop(runEnds);
    uint64_t now = upMs(), ends = line.device.ends_ms;
    if (on && esp_timer_start_once(runEnds, (ends > now ? ends - now : 0) * 1000) != ESP_OK) return false;
    setRelay(on);
    return true;
}

// A record of an older program is shorter.
static const uint8_t *load(unsigned slot, uint8_t *to) {
    size_t n = flash.getBytesLength(slotName(slot));
    if (n != NYALA_RECORD_BYTES && n != NYALA_RECORD_1_BYTES) return nullptr;
    return flash.getBytes(slotName(slot), to, n) == n ? to : nullptr;
}

// --- coin pulses ---

// A timer switches the contact, so that no pulse depends on the loop. The core writes nothing to flash meanwhile: that stops the
// processor for milliseconds.
static esp_timer_handle_t nextEdge;
static volatile uint32_t edgesLeft, widthUs, gapUs;
static volatile bool sending = false, pulsesSent = false;

static void setPulse(bool closed) { gpio_set_level((gpio_num_t)PULSE_PIN, closed ? 1 : 0); }

static void arm(bool armed) {
    if (ARM_PIN >= 0) gpio_set_level((gpio_num_t)ARM_PIN, armed ? 1 : 0);
}

static void onEdge(void *) {
    if (edgesLeft == 0) {
        arm(false);
        sending = false;
        pulsesSent = true;
        return;
    }
    edgesLeft = edgesLeft - 1;
    bool closed = edgesLeft % 2 == 1;
    setPulse(closed);
    if (esp_timer_start_once(nextEdge, closed ? widthUs : gapUs) == ESP_OK) return;
    // Nobody would open the contact. After the restart, the core refuses the command as after a power cut.
    setPulse(false);
    arm(false);
    esp_restart();
}

static bool pulse(void *, uint32_t n, uint32_t widthMs, uint32_t gapMs) {
    edgesLeft = 2 * n;
    widthUs = widthMs * 1000;
    gapUs = gapMs * 1000;
    sending = true;
    arm(true);
    if (esp_timer_start_once(nextEdge, 1000) == ESP_OK) return true;
    arm(false);
    sending = false;
    return false;
}

// --- coins ---

static volatile uint32_t coins = 0;
static volatile int64_t coinBegan = 0, coinCounted = 0;

static void IRAM_ATTR onCoin() {
    int64_t now = esp_timer_get_time();
    if (digitalRead(COIN_PIN) == LOW) {
        if (coinBegan == 0) coinBegan = now;
        return;
    }
    // A bounce is too short for a coin, and the time begins anew after it.
    bool coin = coinBegan != 0 && now - coinBegan >= COIN_MIN_US && now - coinCounted >= COIN_APART_US;
    coinBegan = 0;
    if (!coin || (COIN_SHARES_INPUT && sending)) return;
    coinCounted = now;
    coins = coins + 1;
}

// --- the running contact and the sensor ---

static Input running = {RUNNING_PIN, nyala_device_contact, 0, false, false, false, 0};
static Input sensor = {SENSE_PIN, nyala_device_sense, 0, false, false, false, 0};

static void IRAM_ATTR onPulse(void *input) {
    Input *in = (Input *)input;
    in->pulseAt = millis();
    in->pulsed = true;
}

static void begin(Input &in) {
    if (in.pin < 0) return;
    pinMode(in.pin, INPUT_PULLUP);
    attachInterruptArg(digitalPinToInterrupt(in.pin), onPulse, &in, FALLING);
}

// A contact that stays closed gives no further edges; a lamp on mains gives only edges. Both count as running.
static void look(Input &in) {
    if (in.pin < 0) return;
    bool now = digitalRead(in.pin) == LOW || (in.pulsed && millis() - in.pulseAt < PULSE_MS);
    if (now != in.seen) {
        in.seen = now;
        in.since = millis();
    }
    if (in.pulsed && millis() - in.pulseAt >= PULSE_MS) in.pulsed = false;
    if (in.seen != in.told && millis() - in.since >= PULSE_MS) {
        in.told = in.seen;
        in.tell(&line.device, in.told, upMs());
    }
}

static void look() {
    static uint32_t told = 0;
    look(running);
    look(sensor);
    for (uint32_t now = coins; told != now; told++) nyala_device_coin(&line.device, upMs());
    if (pulsesSent) {
        pulsesSent = false;
        nyala_device_pulsed(&line.device, upMs());
    }
}

// --- the connection ---

// The lookup of the name, the connection and the TLS handshake block for seconds, so a task of its own does them. While it has the
// client, nothing else touches that.
enum Opening { IDLE, ASKED, OPENED, FAILED };
static std::atomic<int> opening{IDLE};
static TaskHandle_t connector;

static void connect_(void *) {
    for (;;) {
        ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
        opening = client().connect(NYALA_HOST, NYALA_PORT, CONNECT_MS) ? OPENED : FAILED;
    }
}

static void close_() {
    client().stop();
    open_ = false;
    inN = 0;
    nyala_line_closed(&line, upMs());
}

static void obey() {
    nyala_line_want want = nyala_line_tick(&line, upMs());
    int done = opening;
    if (done == ASKED) return;
    opening = IDLE;
    if (want == NYALA_WANT_OPEN && WiFi.status() == WL_CONNECTED) {
        opening = ASKED;
        xTaskNotifyGive(connector);
    } else if (want != NYALA_WANT_NOTHING || done == FAILED) {
        // Also a connection that came too late: the core has given it up.
        close_();
    } else if (done == OPENED) {
        open_ = true;
        nyala_line_opened(&line, upMs());
    }
}

static void serve() {
    if (!open_) return;
    if (line.mqtt.out_n > 0) {
        size_t n = client().write(line.mqtt.out, line.mqtt.out_n);
        nyala_mqtt_sent(&line.mqtt, n < line.mqtt.out_n ? n : line.mqtt.out_n);
    }
    if (inN == 0 && client().available() > 0) {
        int n = client().read(in, sizeof in);
        inN = n > 0 ? (size_t)n : 0;
    }
    if (inN > 0) {
        size_t taken = nyala_line_take(&line, in, inN, upMs());
        memmove(in, in + taken, inN - taken);
        inN -= taken;
    } else if (!client().connected()) {
        close_();
    }
}

// Why the board booted, in the words of docs/contract.md.
static const char *bootReason() {
    switch (esp_reset_reason()) {
    case ESP_RST_POWERON: return "power";
    case ESP_RST_BROWNOUT: return "brownout";
    case ESP_RST_INT_WDT:
    case ESP_RST_TASK_WDT:
    case ESP_RST_WDT: return "watchdog";
    case ESP_RST_PANIC: return "panic";
    default: return "other";
    }
}

void setup() {
    // First of all: until these lines, only the board's resistors set the levels of the pins. The level comes before the direction.
    if (ARM_PIN >= 0) {
        arm(false);
        pinMode(ARM_PIN, OUTPUT);
    }
    if (PULSE_PIN >= 0) {
        setPulse(false);
        pinMode(PULSE_PIN, OUTPUT);
    }
    if (RELAY_PIN >= 0) {
        setRelay(false);
        pinMode(RELAY_PIN, OUTPUT);
    }
    esp_timer_create_args_t opens = {};
    opens.callback = [](void *) { setRelay(false); };
    opens.name = "run ends";
    ESP_ERROR_CHECK(esp_timer_create(&opens, &runEnds));
    esp_timer_create_args_t edges = {};
    edges.callback = onEdge;
    edges.name = "coin pulses";
    ESP_ERROR_CHECK(esp_timer_create(&edges, &nextEdge));
    begin(running);
    begin(sensor);
    if (COIN_PIN >= 0) {
        pinMode(COIN_PIN, INPUT_PULLUP);
        attachInterrupt(digitalPinToInterrupt(COIN_PIN), onCoin, CHANGE);
    }
    Serial.begin(115200);

    esp_task_wdt_config_t watchdog = {};
    watchdog.timeout_ms = WATCHDOG_MS;
    watchdog.trigger_panic = true;
    if (esp_task_wdt_reconfigure(&watchdog) != ESP_OK) esp_task_wdt_init(&watchdog);
    esp_task_wdt_add(nullptr);

    WiFi.mode(WIFI_STA);
    WiFi.setAutoReconnect(true);
    WiFi.begin(WIFI_NAME, WIFI_PASSWORD);
    if (NYALA_CA) secure.setCACert(NYALA_CA);
    secure.setHandshakeTimeout(CONNECT_MS / 1000);
    if (xTaskCreate(connect_, "connect", CONNECT_STACK, nullptr, 1, &connector) != pdPASS) esp_restart();

    flash.begin("nyala", false);
    uint8_t first[NYALA_RECORD_BYTES], second[NYALA_RECORD_BYTES];
    nyala_login login = {};
    snprintf(login.user, sizeof login.user, "%s", NYALA_USER);
    snprintf(login.secret, sizeof login.secret, "%s", NYALA_SECRET);
    login.idoutlet = NYALA_IDOUTLET;
    login.idmesin = NYALA_IDMESIN;
    nyala_board board = {nullptr, save, relay, nullptr, nullptr};
    if (PULSE_PIN >= 0) board.pulse = pulse;
    // esp_random is truly random only while the radio is on, which it is here.
    nyala_setup setup = {esp_random(), RUNNING_PIN >= 0 ? RUNNING_WITHIN_MS : 0, "nyala-device 2", "esp32", bootReason(), SENSE_PIN >= 0, COIN_PIN >= 0};
    nyala_line_boot(&line, &login, &board, &setup, load(0, first), load(1, second), esp_random(), upMs());
}

void loop() {
    esp_task_wdt_reset();
    look();
    if (WiFi.status() == WL_CONNECTED) nyala_device_rssi(&line.device, WiFi.RSSI());
    obey();
    serve();
    delay(2);
}
