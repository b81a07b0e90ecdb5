import type { Codec } from '../codec.ts'
import { readOpenAiError, writeOpenAiError } from '../openai-errors.ts'
import { readResponsesReply } from './read-reply.ts'
import { readResponsesRequest } from './read-request.ts'
import { ResponsesStreamReader } from './read-stream.ts'
import { writeResponsesReply } from './write-reply.ts'
import { writeResponsesRequest } from './write-request.ts'
import { ResponsesStreamWriter } from './write-stream.ts'

export const responsesCodec: Codec = {
  format: 'responses',
  readRequest: readResponsesRequest,
  writeRequest: writeResponsesRequest,
  readReply: readResponsesReply,
  writeReply: writeResponsesReply,
  openReader: () => new ResponsesStreamReader(),
  openWriter: (context) => new ResponsesStreamWriter(context),
  readError: readOpenAiError,
  writeError: writeOpenAiError,
}
