/*
 * The load: so many connections that send one request again and again, as fast as they are answered or at a fixed rate.
 * Every answer counts only when its status is 200 and its body is the expected one to the last byte.
 *
 * usage: load PORT CONNECTIONS MILLISECONDS RATE REQUEST-FILE ANSWER-FILE
 *   RATE          requests a second, sent when they are due, whether or not those before are answered; 0: no pause
 *   REQUEST-FILE  the whole request, head and body; ANSWER-FILE: the body of the answer alone
 *
 * prints {"requests", "wrong", "ms", "p50", "p99", "max"}, the last three in milliseconds from when a request was due.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

typedef struct client {
  int fd, busy;
  size_t sent, got, size;
  char *in;
  long due;
} client;

static struct sockaddr_in address;
static client *clients;
static int poll_fd, client_count, busy_count;
static char *request, *expected, *body;
static size_t request_length, expected_length, body_size;
static long *taken, started, ends, interval;
static size_t taken_count, taken_size, issued, wrong;

static long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void fail(const char *what) { perror(what), exit(1); }

static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file) fail(path);
  fseek(file, 0, SEEK_END);
  char *bytes = malloc((*length = ftell(file)) + 1);
  rewind(file);
  if (fread(bytes, 1, *length, file) != *length) fail(path);
  bytes[*length] = 0;
  fclose(file);
  return bytes;
}

static void watch(client *c, unsigned events, int operation) {
  struct epoll_event event = {.events = events, .data.ptr = c};
  if (epoll_ctl(poll_fd, operation, c->fd, &event)) fail("epoll_ctl");
}

static void connect_client(client *c) {
  int on = 1;
  c->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(c->fd, (void *)&address, sizeof address)) fail("connect");
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  watch(c, EPOLLIN, EPOLL_CTL_ADD);
}

static void send_more(client *c) {
  ssize_t sent = send(c->fd, request + c->sent, request_length - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
  int was_partial = c->sent > 0;
  if (sent > 0) c->sent += sent;
  /* A connection that is gone shows at the next read. */
  int is_partial = c->sent < request_length && (sent > 0 || errno == EAGAIN);
  if (is_partial != was_partial) watch(c, is_partial ? EPOLLIN | EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
}

static void begin(client *c, long due) {
  if (c->fd < 0) connect_client(c);
  c->busy = 1, c->sent = c->got = 0, c->due = due;
  busy_count++, issued++;
  send_more(c);
}

static void end(client *c, int good) {
  long now = now_ns();
  if (!good && wrong++ == 0) fprintf(stderr, "wrong answer: %.*s\n", (int)(c->got < 400 ? c->got : 400), c->in ? c->in : "");
  c->busy = 0, busy_count--;
  if (good) {
    if (taken_count == taken_size) taken = realloc(taken, (taken_size = taken_size * 2 + 4096) * sizeof *taken);
    taken[taken_count++] = now - c->due;
  } else {
    close(c->fd);
    c->fd = -1;
  }
  if (!interval && now < ends) begin(c, now);
}

/* Takes chunks apart into `body`. Returns the length, -1 where the end has not come, -2 where it is malformed. */
static long join_chunks(const char *at, const char *limit) {
  for (size_t length = 0;;) {
    char *line_end = memmem(at, limit - at, "\r\n", 2);
    if (!line_end) return -1;
    size_t count = strtoul(at, NULL, 16);
    at = line_end + 2;
    if ((size_t)(limit - at) < count + 2) return -1;
    if (count == 0) return (long)length;
    if (length + count > body_size) return -2;
    memcpy(body + length, at, count);
    length += count, at += count + 2;
  }
}

/* In what is expected \001 stands for any digit: translated answers say when they were made. */
static int is_expected(const char *got) {
  for (size_t at = 0; at < expected_length; at++)
    if (got[at] != expected[at] && !(expected[at] == 1 && got[at] >= '0' && got[at] <= '9')) return 0;
  return 1;
}

/* 0: more is to come. */
static int is_whole(client *c, int *good) {
  char *head_end = memmem(c->in, c->got, "\r\n\r\n", 4);
  if (!head_end) return 0;
  char *start = head_end + 4, *limit = c->in + c->got;
  *head_end = 0;
  char *stated = strcasestr(c->in, "\r\ncontent-length:");
  int is_chunked = strcasestr(c->in, "\r\ntransfer-encoding: chunked") != NULL, is_ok = !strncmp(c->in, "HTTP/1.1 200", 12);
  long length = stated ? strtol(stated + 17, NULL, 10) : 0;
  *head_end = '\r';
  if (is_chunked) length = join_chunks(start, limit);
  else if (limit - start < length) return 0;
  if (length == -1) return 0;
  *good = is_ok && (size_t)length == expected_length && is_expected(is_chunked ? body : start);
  return 1;
}

static void take(client *c) {
  if (c->got + 16384 > c->size) c->in = realloc(c->in, (c->size = c->size * 2 + 32768) + 1);
  ssize_t count = recv(c->fd, c->in + c->got, c->size - c->got, MSG_DONTWAIT);
  if (count < 0 && errno == EAGAIN) return;
  if (count <= 0) {
    if (c->busy) return end(c, 0);
    /* Closed while it was idle, as a server may. */
    close(c->fd);
    c->fd = -1;
    return;
  }
  c->in[c->got += count] = 0;
  int good = 0;
  if (!c->busy || is_whole(c, &good)) {
    if (c->busy) end(c, good);
    else wrong++;
  }
}

/* Sends what is due and has a free connection; the rest waits, and its waiting counts. */
static void send_due(void) {
  for (long now = now_ns();;) {
    long due = started + (long)issued * interval;
    if (due > now || due >= ends || busy_count == client_count) return;
    client *c = clients;
    while (c->busy) c++;
    begin(c, due);
  }
}

static int ascending(const void *a, const void *b) {
  long difference = *(const long *)a - *(const long *)b;
  return (difference > 0) - (difference < 0);
}

static double at_share(double share) {
  return taken_count ? taken[(size_t)((taken_count - 1) * share)] / 1e6 : 0;
}

int main(int count, char **words) {
  if (count != 7) return fprintf(stderr, "usage: load PORT CONNECTIONS MILLISECONDS RATE REQUEST ANSWER\n"), 2;
  address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(atoi(words[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  client_count = atoi(words[2]);
  interval = atoi(words[4]) ? 1000000000L / atoi(words[4]) : 0;
  request = read_file(words[5], &request_length);
  expected = read_file(words[6], &expected_length);
  body = malloc(body_size = expected_length + 65536);
  clients = calloc(client_count, sizeof *clients);
  poll_fd = epoll_create1(0);
  for (client *c = clients; c < clients + client_count; c++) connect_client(c);
  int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  struct epoll_event events[256], own = {.events = EPOLLIN, .data.ptr = NULL};
  struct itimerspec often = {.it_interval.tv_nsec = 200000, .it_value.tv_nsec = 200000};
  if (interval) timerfd_settime(timer, 0, &often, NULL), epoll_ctl(poll_fd, EPOLL_CTL_ADD, timer, &own);
  started = now_ns(), ends = started + atol(words[3]) * 1000000L;
  for (int i = 0; !interval && i < client_count; i++) begin(clients + i, started);
  while (busy_count || (interval && now_ns() < ends)) {
    int ready = epoll_wait(poll_fd, events, 256, 10000);
    if (ready == 0) return fprintf(stderr, "%d requests without an answer for 10 s\n", busy_count), 1;
    for (int i = 0; i < ready; i++) {
      client *c = events[i].data.ptr;
      unsigned long ticks;
      if (!c) ticks = read(timer, &ticks, sizeof ticks);
      else if (events[i].events & EPOLLOUT) send_more(c);
      else if (c->fd >= 0) take(c);
    }
    if (interval) send_due();
  }
  long ms = (now_ns() - started) / 1000000L;
  qsort(taken, taken_count, sizeof *taken, ascending);
  printf("{\"requests\":%zu,\"wrong\":%zu,\"ms\":%ld,\"p50\":%f,\"p99\":%f,\"max\":%f}\n", taken_count, wrong, ms,
         at_share(0.5), at_share(0.99), at_share(1));
  return 0;
}
