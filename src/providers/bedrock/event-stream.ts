import { asObject, asString, parseJson, parseObject } from '../../core/json/json-value.ts'
import { ownValue } from '../../core/own-value.ts'
import { ForwardingSink, withoutHeaders } from '../answer-sinks.ts'
import type { ResponseSink } from '../contract.ts'
import { renderAnthropicError } from '../wire/anthropic-hosted.ts'

/** Longer messages than the protocol knows mean that the bytes are no event stream. */
const messageLimit = 24 * 1024 * 1024
const shortest = 16

interface EventMessage {
  headers: Record<string, { value: unknown }>
  body: Uint8Array
}

export interface MessageDecoder {
  /** Throws where a checksum is wrong. */
  decode(message: Uint8Array): EventMessage
}

/**
 * Takes the messages of `application/vnd.amazon.eventstream` apart and hands on the Anthropic events in them, as the
 * lane's SSE. An exception in the stream becomes the lane's error event.
 */
export class EventStreamSink extends ForwardingSink {
  readonly #decoder: MessageDecoder
  #framed = false
  #over = false
  #held: Buffer[] = []
  #size = 0

  constructor(sink: ResponseSink, decoder: MessageDecoder) {
    super(sink)
    this.#decoder = decoder
  }

  override onHead(status: number, headers: string[]): void {
    this.#framed = headers.some((value) => value.startsWith('application/vnd.amazon.eventstream'))
    if (!this.#framed) return this.sink.onHead(status, headers)
    const more = ['content-type', 'text/event-stream; charset=utf-8']
    this.sink.onHead(status, withoutHeaders(headers, ['content-type', 'content-length'], more))
  }

  override onData(chunk: Buffer): void {
    if (this.#over) return
    if (!this.#framed) return this.sink.onData(chunk)
    this.#held.push(chunk)
    this.#size += chunk.length
    const events: Buffer[] = []
    try {
      for (let message = this.#next(); message !== null; message = this.#next())
        events.push(readMessage(this.#decoder.decode(message)))
    } catch {
      this.#over = true
    }
    if (events.length > 0) this.sink.onData(Buffer.concat(events))
    if (this.#over) this.sink.onError({ kind: 'protocol', message: "The provider's event stream is broken." })
  }

  override onEnd(): void {
    if (this.#over) return
    if (this.#size > 0)
      return this.sink.onError({ kind: 'reset', message: "The provider's event stream ends within a message." })
    this.sink.onEnd()
  }

  /** The next whole message; null when there is none yet. Throws for a length that cannot be. */
  #next(): Buffer | null {
    if (this.#size < 4) return null
    if (this.#held.length > 1 && (this.#held[0]?.length ?? 0) < 4) this.#join()
    const length = this.#held[0]?.readUInt32BE(0) ?? 0
    if (length < shortest || length > messageLimit) throw new RangeError('impossible length')
    if (this.#size < length) return null
    if (this.#held.length > 1) this.#join()
    const [whole = Buffer.alloc(0)] = this.#held
    const rest = whole.subarray(length)
    this.#held = rest.length === 0 ? [] : [rest]
    this.#size = rest.length
    return whole.subarray(0, length)
  }

  #join(): void {
    this.#held = [Buffer.concat(this.#held, this.#size)]
  }
}

const exceptions: Record<string, string> = {
  validationException: 'invalid_request_error',
  throttlingException: 'rate_limit_error',
  serviceUnavailableException: 'overloaded_error',
  modelTimeoutException: 'timeout_error',
}

/** One message as the lane's event; nothing for what says nothing. */
function readMessage({ headers, body }: EventMessage): Buffer {
  const text = (name: string) => asString(headers[name]?.value)
  const data = parseObject(Buffer.from(body))
  switch (text(':message-type')) {
    case 'event':
      return typeof data?.bytes === 'string' ? renderEvent(Buffer.from(data.bytes, 'base64')) : Buffer.alloc(0)
    case 'exception':
      return renderError(text(':exception-type'), asString(data?.message))
    default:
      return renderError(text(':error-code'), text(':error-message'))
  }
}

/** Figures of Bedrock's own, which its last event carries beside the lane's. */
const metrics = /,"amazon-bedrock-invocationMetrics":\{[^{}]*\}/

function renderEvent(json: Buffer): Buffer {
  const type = /^\s*\{\s*"type"\s*:\s*"([a-z_]+)"/.exec(json.toString('latin1', 0, 128))?.[1]
  const name = type ?? asString(asObject(parseJson(json))?.type)
  const own = name === 'message_stop' ? Buffer.from(json.toString('latin1').replace(metrics, ''), 'latin1') : json
  // White space between members may hold line ends, strings never do.
  const data =
    own.includes('\n') || own.includes('\r')
      ? Buffer.from(own.toString('latin1').replace(/[\r\n]/g, ' '), 'latin1')
      : own
  return Buffer.concat([Buffer.from(`event: ${name}\ndata: `), data, Buffer.from('\n\n')])
}

function renderError(exception: string, message: string): Buffer {
  const type = ownValue(exceptions, exception) ?? 'api_error'
  const body = renderAnthropicError(type, message || `The provider ended the stream (${exception}).`)
  return Buffer.concat([Buffer.from('event: error\ndata: '), body, Buffer.from('\n\n')])
}
