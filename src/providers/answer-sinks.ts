import type { ResponseSink, TransportFault } from './contract.ts'

/** Hands everything on; what a kind changes of an answer is a class on top. */
export class ForwardingSink implements ResponseSink {
  protected readonly sink: ResponseSink

  constructor(sink: ResponseSink) {
    this.sink = sink
  }

  onConnected(): void {
    this.sink.onConnected()
  }

  onHead(status: number, headers: string[]): void {
    this.sink.onHead(status, headers)
  }

  onData(chunk: Buffer): void {
    this.sink.onData(chunk)
  }

  onEnd(): void {
    this.sink.onEnd()
  }

  onError(fault: TransportFault): void {
    this.sink.onError(fault)
  }
}

/** Larger bodies pass as they are: no error and no count is of that size. */
const wholeLimit = 1024 * 1024

/** Gathers whole answers that `choose` wants, and hands on what it makes of them. */
export class RewritingSink extends ForwardingSink {
  readonly #choose: (status: number, headers: readonly string[]) => ((body: Buffer) => Buffer) | null
  #rewrite: ((body: Buffer) => Buffer) | null = null
  #head: { status: number; headers: string[] } | null = null
  #chunks: Buffer[] = []
  #size = 0

  constructor(
    sink: ResponseSink,
    choose: (status: number, headers: readonly string[]) => ((body: Buffer) => Buffer) | null,
  ) {
    super(sink)
    this.#choose = choose
  }

  override onHead(status: number, headers: string[]): void {
    this.#rewrite = this.#choose(status, headers)
    if (this.#rewrite === null) this.sink.onHead(status, headers)
    else this.#head = { status, headers }
  }

  override onData(chunk: Buffer): void {
    if (this.#rewrite === null) return this.sink.onData(chunk)
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size > wholeLimit) this.#release((body) => body)
  }

  override onEnd(): void {
    if (this.#rewrite !== null) this.#release(this.#rewrite)
    this.sink.onEnd()
  }

  #release(rewrite: (body: Buffer) => Buffer): void {
    const { status, headers } = this.#head ?? { status: 502, headers: [] }
    this.#rewrite = null
    const before = Buffer.concat(this.#chunks)
    const after = rewrite(before)
    this.sink.onHead(
      status,
      after === before
        ? headers
        : withoutHeaders(headers, ['content-length', 'content-type'], ['content-type', 'application/json']),
    )
    if (after.length > 0) this.sink.onData(after)
  }
}

/** A flat list of headers without some (lower case), and with others. */
export function withoutHeaders(
  headers: readonly string[],
  names: readonly string[],
  more: readonly string[] = [],
): string[] {
  const result: string[] = []
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? ''
    if (!names.includes(name.toLowerCase())) result.push(name, headers[index + 1] ?? '')
  }
  result.push(...more)
  return result
}

/** The values of one header (lower case), in order. */
export function headerValues(headers: readonly string[], name: string): string[] {
  const values: string[] = []
  for (let index = 0; index + 1 < headers.length; index += 2)
    if (headers[index]?.toLowerCase() === name) values.push(headers[index + 1] ?? '')
  return values
}
