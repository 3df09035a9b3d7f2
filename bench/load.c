/* The load of the broker benchmark: a librdkafka producer or consumer that reports as one line of JSON.
 *
 *   load produce BROKERS TOPIC COUNT SIZE BATCH_BYTES LINGER_MS RATE STATS_FILE [key=value ...]
 *   load consume BROKERS TOPIC COUNT PARTITIONS [bench.pace=BYTES_PER_S] [key=value ...]
 *
 * RATE 0 sends as fast as the broker takes it. Otherwise record i is due at start + i / RATE, and its latency runs from
 * that moment to its delivery report, whenever it was really sent: a stall is charged to every record that it delays.
 */
#include <librdkafka/rdkafka.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t *due_ns;      /* when each record ought to have been sent */
static int64_t *latency_ns;  /* from then to its delivery report */
static int64_t delivered, failed;
static const char *stats_path;

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void die(const char *what, const char *why) {
    fprintf(stderr, "load: %s: %s\n", what, why);
    exit(1);
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque) {
    (void)rk; (void)opaque;
    if (m->err) {
        if (failed++ == 0) fprintf(stderr, "load: delivery failed: %s\n", rd_kafka_err2str(m->err));
        return;
    }
    delivered++;
    if (latency_ns) {
        int64_t i = (int64_t)(intptr_t)m->_private;
        latency_ns[i] = now_ns() - due_ns[i];
    }
}

static int on_stats(rd_kafka_t *rk, char *json, size_t len, void *opaque) {
    (void)rk; (void)opaque;
    FILE *f = fopen(stats_path, "w");
    if (f) { fwrite(json, 1, len, f); fclose(f); }
    return 0;
}

static void set(rd_kafka_conf_t *conf, const char *key, const char *value) {
    char error[512];
    if (rd_kafka_conf_set(conf, key, value, error, sizeof error) != RD_KAFKA_CONF_OK) die(key, error);
}

static void set_extra(rd_kafka_conf_t *conf, char **pairs) {
    for (; *pairs; pairs++) {
        char *eq = strchr(*pairs, '=');
        if (!eq) die(*pairs, "expected key=value");
        *eq = 0;
        set(conf, *pairs, eq + 1);
    }
}

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double percentile_ms(int64_t n, double q) {
    int64_t i = (int64_t)(q * (double)n);
    return (double)latency_ns[i < n ? i : n - 1] / 1e6;
}

static int produce(int argc, char **argv) {
    if (argc < 10) die("produce", "too few arguments");
    const char *topic = argv[3];
    int64_t count = atoll(argv[4]);
    size_t size = (size_t)atoll(argv[5]);
    double rate = atof(argv[8]);
    stats_path = argv[9];
    char error[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", argv[2]);
    set(conf, "batch.size", argv[6]);
    set(conf, "batch.num.messages", "1000000");
    set(conf, "linger.ms", argv[7]);
    set(conf, "acks", "all");
    set(conf, "queue.buffering.max.kbytes", "131072");
    set(conf, "queue.buffering.max.messages", "1000000");
    set(conf, "statistics.interval.ms", "200");
    set_extra(conf, argv + 10);
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_conf_set_stats_cb(conf, on_stats);
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
    if (!rk) die("producer", error);
    rd_kafka_topic_t *rkt = rd_kafka_topic_new(rk, topic, NULL);
    const struct rd_kafka_metadata *metadata;
    if (rd_kafka_metadata(rk, 0, rkt, &metadata, 10000)) die("metadata", "no answer in 10 s");
    rd_kafka_metadata_destroy(metadata);
    /* Random bytes, and the number of the record in front: neither side can profit from compressible or repeated
       content, and no two values are alike. */
    char *payload = malloc(size + 65536);
    srand(1);
    for (size_t i = 0; i < size + 65536; i++) payload[i] = (char)rand();
    if (rate > 0) {
        due_ns = calloc((size_t)count, sizeof *due_ns);
        latency_ns = calloc((size_t)count, sizeof *latency_ns);
    }
    int64_t start = now_ns();
    for (int64_t i = 0; i < count; i++) {
        if (rate > 0) {
            due_ns[i] = start + (int64_t)((double)i * 1e9 / rate);
            /* Sleeps rather than spins: on few cores a busy client would take the broker's place. */
            int64_t wait;
            while ((wait = due_ns[i] - now_ns()) > 0) {
                struct timespec nap = {0, wait > 1000000 ? 1000000 : wait};
                rd_kafka_poll(rk, 0);
                nanosleep(&nap, NULL);
            }
        }
        char *value = payload + i % 65536;
        memcpy(value, &i, size < sizeof i ? size : sizeof i);
        while (rd_kafka_produce(rkt, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, value, size, NULL, 0,
                                (void *)(intptr_t)i) == -1) {
            if (errno != ENOBUFS) die("produce", rd_kafka_err2str(rd_kafka_last_error()));
            rd_kafka_poll(rk, 10);
        }
        if ((i & 63) == 0) rd_kafka_poll(rk, 0);
    }
    while (delivered + failed < count) rd_kafka_poll(rk, 100);
    double seconds = (double)(now_ns() - start) / 1e9;
    for (int i = 0; i < 4; i++) rd_kafka_poll(rk, 100); /* one more round of statistics */
    printf("{\"seconds\": %.6f, \"records\": %" PRId64 ", \"failed\": %" PRId64 ", \"bytes\": %" PRId64, seconds, delivered,
           failed, delivered * (int64_t)size);
    if (latency_ns) {
        qsort(latency_ns, (size_t)count, sizeof *latency_ns, ascending);
        printf(", \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"p999_ms\": %.3f, \"max_ms\": %.3f", percentile_ms(count, 0.50),
               percentile_ms(count, 0.99), percentile_ms(count, 0.999), percentile_ms(count, 1.0));
    }
    printf("}\n");
    rd_kafka_topic_destroy(rkt);
    rd_kafka_destroy(rk);
    return failed ? 1 : 0;
}

static int consume(int argc, char **argv) {
    if (argc < 6) die("consume", "too few arguments");
    const char *topic = argv[3];
    int64_t count = atoll(argv[4]), records = 0, bytes = 0, first = 0;
    int partitions = atoi(argv[5]);
    char error[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", argv[2]);
    set(conf, "group.id", "bench");
    set(conf, "enable.auto.commit", "false");
    set(conf, "auto.offset.reset", "earliest");
    set(conf, "queued.max.messages.kbytes", "131072");
    double pace = 0; /* bytes/s at most: what is ahead of it stays in the queue, and fetching stops when that is full */
    char **extra = argv + 6;
    if (*extra && !strncmp(*extra, "bench.pace=", 11)) pace = atof(*extra++ + 11);
    if (pace > 0) set(conf, "queued.max.messages.kbytes", "4096");
    set_extra(conf, extra);
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof error);
    if (!rk) die("consumer", error);
    rd_kafka_poll_set_consumer(rk);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
    for (int p = 0; p < partitions; p++)
        rd_kafka_topic_partition_list_add(list, topic, p)->offset = RD_KAFKA_OFFSET_BEGINNING;
    int64_t start = now_ns();
    rd_kafka_assign(rk, list);
    rd_kafka_queue_t *queue = rd_kafka_queue_get_consumer(rk);
    rd_kafka_message_t *batch[1000];
    while (records < count) {
        ssize_t n = rd_kafka_consume_batch_queue(queue, 2, batch, 1000);
        for (ssize_t i = 0; i < n; i++) {
            if (!batch[i]->err) {
                if (!first) first = now_ns();
                records++;
                bytes += (int64_t)batch[i]->len;
            } else if (batch[i]->err != RD_KAFKA_RESP_ERR__PARTITION_EOF) {
                fprintf(stderr, "load: %s\n", rd_kafka_message_errstr(batch[i]));
            }
            rd_kafka_message_destroy(batch[i]);
        }
        int64_t ahead_ns = pace > 0 ? start + (int64_t)((double)bytes * 1e9 / pace) - now_ns() : 0;
        if (ahead_ns > 1000000) {
            struct timespec nap = {0, ahead_ns > 10000000 ? 10000000 : ahead_ns};
            nanosleep(&nap, NULL);
        }
        if ((double)(now_ns() - start) / 1e9 > 300) die("consume", "not everything in 300 s");
    }
    double seconds = (double)(now_ns() - (first ? first : start)) / 1e9;
    printf("{\"seconds\": %.6f, \"records\": %" PRId64 ", \"bytes\": %" PRId64 ", \"first_ms\": %.3f}\n", seconds, records, bytes,
           (double)(first - start) / 1e6);
    rd_kafka_queue_destroy(queue);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_consumer_close(rk);
    rd_kafka_destroy(rk);
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "produce")) return produce(argc, argv);
    if (argc > 1 && !strcmp(argv[1], "consume")) return consume(argc, argv);
    fprintf(stderr, "usage: load produce|consume ... (see the head of load.c)\n");
    return 2;
}
