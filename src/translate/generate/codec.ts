import type { Codec } from '../codec.ts'
import { readGenerateError, writeGenerateError } from './errors.ts'
import { readGenerateReply } from './read-reply.ts'
import { readGenerateRequest } from './read-request.ts'
import { GenerateStreamReader } from './read-stream.ts'
import { writeGenerateReply } from './write-reply.ts'
import { writeGenerateRequest } from './write-request.ts'
import { GenerateStreamWriter } from './write-stream.ts'

export const generateCodec: Codec = {
  format: 'generate',
  readRequest: readGenerateRequest,
  writeRequest: writeGenerateRequest,
  readReply: readGenerateReply,
  writeReply: writeGenerateReply,
  openReader: () => new GenerateStreamReader(),
  openWriter: (context) => new GenerateStreamWriter(context),
  readError: readGenerateError,
  writeError: writeGenerateError,
}
