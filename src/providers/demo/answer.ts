/** An answer of the demo provider, ready to be played: a head and chunks with pauses between them. */
export interface DemoAnswer {
  status: number
  /** Name, value, name, value, … */
  headers: string[]
  chunks: Buffer[]
}

export function answerJson(status: number, value: unknown, headers: string[] = []): DemoAnswer {
  const body = Buffer.from(JSON.stringify(value))
  return {
    status,
    headers: ['content-type', 'application/json', 'content-length', String(body.length), ...headers],
    chunks: [body],
  }
}

export function answerStream(
  chunks: string[],
  headers: string[] = [],
  contentType = 'text/event-stream; charset=utf-8',
): DemoAnswer {
  return {
    status: 200,
    headers: ['content-type', contentType, 'cache-control', 'no-cache', ...headers],
    chunks: chunks.map((chunk) => Buffer.from(chunk)),
  }
}

/** An unnamed event (Chat Completions, Gemini). */
export function dataEvent(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

/** A named event whose data repeats the name as `type` (Responses, Messages). */
export function namedEvent(type: string, value: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`
}

export function seconds(): number {
  return Math.floor(Date.now() / 1000)
}

export function demoId(prefix: string): string {
  return prefix + crypto.randomUUID().replaceAll('-', '').slice(0, 24)
}
