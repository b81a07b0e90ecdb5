import type { IncomingMessage } from 'node:http'
import { isObject } from '../core/json/is-object.ts'

const mebibyte = 1024 * 1024
/** An operation's input never comes near it; what does is a mistake or an attack. */
const maxBytes = mebibyte
/** But a whole price table does, and so do a provider's export and configuration files (src/manifest/reader.ts bounds them), with the plan that was shown. */
const largeInputs: Readonly<Record<string, number>> = {
  '/api/prices/import': 4 * mebibyte,
  '/api/prices/update': 4 * mebibyte,
  '/api/cost/reconcile': 4 * mebibyte,
  '/api/diff': 6 * mebibyte,
  '/api/apply': 6 * mebibyte,
}
/** So much more is read and forgotten, so that whoever still sends hears why it is too much; beyond it the connection ends. */
const maxForgotten = 32 * 1024 * 1024

/** The body is no input of an operation: too large, or no JSON object. */
export class BadBody extends Error {
  readonly status: 400 | 413
  readonly hint: string

  constructor(status: 400 | 413, message: string, hint: string) {
    super(message)
    this.name = 'BadBody'
    this.status = status
    this.hint = hint
  }
}

/**
 * The JSON object that was sent, read here and whole: oRPC's own limit throws from within the stream's event, where nobody can
 * catch it, and took the process with it. Throws `BadBody`.
 */
export async function readOperationBody(request: IncomingMessage): Promise<object> {
  const most = largeInputs[request.url ?? ''] ?? maxBytes
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= most) chunks.push(chunk)
    if (size > most + maxForgotten) break
  }
  if (size > most)
    throw new BadBody(413, `The input is larger than ${most / 1024} KiB.`, 'Send less at a time, in several commands.')
  return parse(Buffer.concat(chunks).toString('utf8'))
}

/** An object, whatever the operation: what oRPC gets in its place (`null`) sends it to read the request again, whose end has passed. */
function parse(text: string): object {
  const value = text === '' ? {} : parseJson(text)
  if (isObject(value)) return value
  throw new BadBody(400, 'The input is not a JSON object.', 'Send a JSON object.')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new BadBody(400, 'The input is not JSON.', 'Send a JSON object.')
  }
}
