/*
 * The provider that the bench measures against: one thread, epoll, far cheaper than any gateway. It answers by the model
 * named in the request, and prints `called TAG NS` and `closed TAG NS` (monotonic clock) for models with a tag.
 *
 *   bench-small            a small JSON answer, in the format of the path
 *   bench-stream-COUNT-MS  a stream: COUNT content chunks, the first at once, then one every MS milliseconds
 *   bench-hang.TAG         nothing at all
 *   bench-head.TAG         the head of a stream, then nothing
 *   bench-open-MS.TAG      a stream without end, one chunk every MS
 *   bench-busy.TAG         503 with `retry-after: 1`
 *   bench-flaky            the small answer, but 503 every tenth time
 *
 * usage: mock PORT
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "answers.h"

enum { READING, STREAMING, STUCK };

typedef struct connection {
  int fd, state, left, pace, closing;
  long due;
  char *in, *out;
  size_t in_length, in_size, out_length, out_size;
  const struct format *format;
  char tag[32];
  struct connection *next; /* of the streaming ones, or of those to free */
} connection;

static int poll_fd;
static connection *streaming, *dead;

static long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void report(const char *event, connection *c) {
  if (*c->tag) printf("%s %s %ld\n", event, c->tag, now_ns()), fflush(stdout);
}

static void drop(connection *c) {
  if (c->closing) return;
  if (c->state != READING) report("closed", c);
  c->closing = 1;
  close(c->fd);
  for (connection **at = &streaming; *at; at = &(*at)->next)
    if (*at == c) { *at = c->next; break; }
  c->next = dead; /* events of this turn may still name it */
  dead = c;
}

static void watch(connection *c, int operation) {
  struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | (c->out_length ? EPOLLOUT : 0), .data.ptr = c};
  epoll_ctl(poll_fd, operation, c->fd, &event);
}

static void keep(char **buffer, size_t *length, size_t *size, const char *bytes, size_t count) {
  if (*length + count + 1 > *size) *buffer = realloc(*buffer, *size = (*length + count + 1) * 2);
  memcpy(*buffer + *length, bytes, count);
  (*buffer)[*length += count] = 0;
}

static void put(connection *c, const char *bytes, size_t count) {
  ssize_t sent = c->out_length || c->closing ? 0 : send(c->fd, bytes, count, MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN) return drop(c);
  if (sent < 0) sent = 0;
  if ((size_t)sent == count || c->closing) return;
  keep(&c->out, &c->out_length, &c->out_size, bytes + sent, count - sent);
  watch(c, EPOLL_CTL_MOD);
}

static void flush_out(connection *c) {
  ssize_t sent = send(c->fd, c->out, c->out_length, MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN) return drop(c);
  if (sent <= 0) return;
  memmove(c->out, c->out + sent, c->out_length -= sent);
  if (c->out_length == 0) watch(c, EPOLL_CTL_MOD);
}

static void answer(connection *c, const char *status, const char *body) {
  char bytes[4096];
  int count = snprintf(bytes, sizeof bytes, "HTTP/1.1 %s\r\ncontent-type: application/json\r\nx-request-id: bench\r\n"
                       "content-length: %zu\r\n\r\n%s", status, strlen(body), body);
  put(c, bytes, count);
}

static size_t frame(char *to, const char *data) { return sprintf(to, "%zx\r\n%s\r\n", strlen(data), data); }

/* One chunk, and after the last the end, in one write as providers do. */
static void send_chunk(connection *c) {
  char bytes[8192];
  size_t count = frame(bytes, c->format->chunk);
  if (c->left > 0 && --c->left == 0) {
    count += frame(bytes + count, c->format->end);
    count += sprintf(bytes + count, "0\r\n\r\n");
    c->state = READING;
    for (connection **at = &streaming; *at; at = &(*at)->next)
      if (*at == c) { *at = c->next; break; }
  }
  put(c, bytes, count);
}

static void start_stream(connection *c, int chunks, int pace) {
  put(c, stream_head, strlen(stream_head));
  char bytes[4096];
  put(c, bytes, frame(bytes, c->format->start));
  if (c->closing) return;
  c->left = chunks, c->pace = pace;
  c->state = STREAMING;
  c->due = now_ns() + pace * 1000000L;
  c->next = streaming, streaming = c;
  send_chunk(c);
}

static void serve(connection *c, const char *path, const char *model) {
  int chunks = 0, pace = 0;
  c->format = find_format(path);
  *c->tag = 0;
  sscanf(model, "bench-%*[a-z0-9-].%31[a-z0-9-]", c->tag);
  report("called", c);
  if (sscanf(model, "bench-stream-%d-%d", &chunks, &pace) == 2) return start_stream(c, chunks, pace);
  if (sscanf(model, "bench-open-%d", &pace) == 1) return start_stream(c, -1, pace);
  if (!strncmp(model, "bench-busy", 10)) return answer(c, "503 Service Unavailable\r\nretry-after: 1", busy);
  static int flaky_calls;
  if (!strncmp(model, "bench-flaky", 11) && ++flaky_calls % 10 == 0) return answer(c, "503 Service Unavailable", busy);
  if (!strncmp(model, "bench-hang", 10)) { c->state = STUCK; return; }
  if (!strncmp(model, "bench-head", 10)) { c->state = STUCK; return put(c, stream_head, strlen(stream_head)); }
  answer(c, "200 OK", c->format->whole);
}

/* Serves the whole requests that have come in; a request is only looked at when its body is there. */
static void parse(connection *c) {
  while (c->state == READING && c->in_length) {
    char *head_end = strstr(c->in, "\r\n\r\n");
    if (!head_end) return;
    *head_end = 0;
    char *length = strcasestr(c->in, "\r\ncontent-length:");
    size_t whole = head_end + 4 - c->in + (length ? strtoul(length + 17, NULL, 10) : 0);
    *head_end = '\r';
    if (c->in_length < whole) return;
    char after = c->in[whole];
    c->in[whole] = 0;
    char *path = strchr(c->in, ' '), *model = strstr(c->in, "bench-");
    serve(c, path ? path : "", model ? model : "");
    if (c->closing) return;
    c->in[whole] = after;
    memmove(c->in, c->in + whole, c->in_length -= whole);
    c->in[c->in_length] = 0;
  }
}

static void take(connection *c) {
  static char bytes[256 * 1024];
  ssize_t count = recv(c->fd, bytes, sizeof bytes, 0);
  if (count <= 0) return count < 0 && errno == EAGAIN ? (void)0 : drop(c);
  keep(&c->in, &c->in_length, &c->in_size, bytes, count);
  parse(c);
}

static void accept_all(int listener) {
  for (int fd, on = 1; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connection *c = calloc(1, sizeof *c);
    c->fd = fd;
    watch(c, EPOLL_CTL_ADD);
  }
}

static void send_due(void) {
  long now = now_ns();
  for (connection *c = streaming, *next; c; c = next) {
    next = c->next;
    if (c->due > now) continue;
    c->due += c->pace * 1000000L;
    send_chunk(c);
  }
}

int main(int count, char **words) {
  signal(SIGPIPE, SIG_IGN);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  address.sin_port = htons(count > 1 ? atoi(words[1]) : 0);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  socklen_t size = sizeof address;
  if (bind(listener, (void *)&address, size) || listen(listener, 4096)) return perror("mock"), 1;
  getsockname(listener, (void *)&address, &size);
  printf("listening %d\n", ntohs(address.sin_port)), fflush(stdout);
  poll_fd = epoll_create1(0);
  struct epoll_event events[512], own = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(poll_fd, EPOLL_CTL_ADD, listener, &own);
  for (;;) {
    int ready = epoll_wait(poll_fd, events, 512, streaming ? 1 : -1);
    for (int i = 0; i < ready; i++) {
      connection *c = events[i].data.ptr;
      if (!c) accept_all(listener);
      else if (!c->closing && c->out_length && (events[i].events & EPOLLOUT)) flush_out(c);
      if (c && !c->closing && (events[i].events & ~EPOLLOUT)) take(c);
    }
    if (streaming) send_due();
    for (connection *c; (c = dead); free(c->in), free(c->out), free(c)) dead = c->next;
  }
}
