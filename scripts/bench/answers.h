/* What the mock says, in each lane's format: about 640 bytes whole, about 200 bytes a chunk. */
#define WORDS "The quick brown fox jumps over the lazy dog and runs along the river bank until the evening comes. "

struct format {
  const char *path, *whole, *start, *chunk, *end;
};

static const char *const stream_head =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: bench\r\ntransfer-encoding: chunked\r\n\r\n";

static const char *const busy = "{\"error\":{\"message\":\"busy\",\"type\":\"server_error\",\"param\":null,\"code\":null}}";

#define CHAT_CHUNK(delta, reason) \
  "data: {\"id\":\"chatcmpl-benchbench\",\"object\":\"chat.completion.chunk\",\"created\":1760000000,\"model\":\"bench\"," \
  "\"system_fingerprint\":\"fp_bench\",\"choices\":[{\"index\":0,\"delta\":" delta ",\"finish_reason\":" reason "}]}\n\n"

#define GEMINI_EVENT(text, reason) \
  "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"" text "\"}],\"role\":\"model\"},\"index\":0" reason "}]," \
  "\"usageMetadata\":{\"promptTokenCount\":57,\"candidatesTokenCount\":61,\"totalTokenCount\":118}," \
  "\"modelVersion\":\"bench\",\"responseId\":\"bench\"}\r\n\r\n"

static const struct format formats[] = {
    {"/messages",
     "{\"id\":\"msg_benchbench\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"bench\",\"content\":[{\"type\":"
     "\"text\",\"text\":\"" WORDS WORDS WORDS "\"}],\"stop_reason\":\"end_turn\",\"stop_sequence\":null,\"usage\":{"
     "\"input_tokens\":57,\"output_tokens\":61}}",
     "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_benchbench\",\"type\":\"message\","
     "\"role\":\"assistant\",\"model\":\"bench\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":"
     "{\"input_tokens\":57,\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\","
     "\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
     "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
     "\"text\":\" the quick brown fox\"}}\n\n",
     "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_delta\ndata: "
     "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{"
     "\"output_tokens\":61}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"},
    {":generateContent",
     "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"" WORDS WORDS WORDS "\"}],\"role\":\"model\"},"
     "\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":57,\"candidatesTokenCount\":61,"
     "\"totalTokenCount\":118},\"modelVersion\":\"bench\",\"responseId\":\"bench\"}",
     "", "", ""},
    {":streamGenerateContent", "", GEMINI_EVENT("", ""), GEMINI_EVENT(" the quick brown fox", ""),
     GEMINI_EVENT("", ",\"finishReason\":\"STOP\"")},
    {"",
     "{\"id\":\"chatcmpl-benchbench\",\"object\":\"chat.completion\",\"created\":1760000000,\"model\":\"bench\",\"choices\":[{"
     "\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"" WORDS WORDS WORDS "\",\"refusal\":null},"
     "\"logprobs\":null,\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":57,\"completion_tokens\":61,"
     "\"total_tokens\":118},\"system_fingerprint\":\"fp_bench\"}",
     CHAT_CHUNK("{\"role\":\"assistant\",\"content\":\"\"}", "null"),
     CHAT_CHUNK("{\"content\":\" the quick brown fox\"}", "null"),
     CHAT_CHUNK("{}", "\"stop\"")
     "data: {\"id\":\"chatcmpl-benchbench\",\"object\":\"chat.completion.chunk\",\"created\":1760000000,\"model\":\"bench\","
     "\"choices\":[],\"usage\":{\"prompt_tokens\":57,\"completion_tokens\":61,\"total_tokens\":118}}\n\n"
     "data: [DONE]\n\n"},
};

static const struct format *find_format(const char *path) {
  const char *line_end = strstr(path, "\r\n");
  size_t length = line_end ? (size_t)(line_end - path) : strlen(path);
  const struct format *format = formats;
  while (*format->path && !memmem(path, length, format->path, strlen(format->path))) format++;
  return format;
}
