import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { MockAnswer, MockCall, MockFormat } from './mock-format.ts'

/** How the mock treats one call instead of answering it well. Members combine; what is left out is as usual. */
export interface Script {
  /** Only calls whose target holds this text take the script; default: the next call that is no model list. */
  path?: string
  /** With an error status and no `body`, the provider's own error shape. */
  status?: number
  /** A model's answer of one's own: what is sent around it (framing, headers of a host) stays the mock's. */
  answerWith?: MockCall['answerWith']
  /** Laid over the usual headers; null takes one away. */
  headers?: Record<string, string | null>
  body?: string | Buffer
  /** An own stream, one entry an event. */
  events?: readonly (string | Buffer)[]
  /** The first of `events` repeated so many times before the rest (default: the usual first content event). */
  flood?: { event: string; times: number }
  /** Stops before the headers, before the first byte or before event n (counted from 0), until the promise, or for ever. */
  hold?: { before: 'headers' | 'first-byte' | number; until?: Promise<unknown> }
  /** Closes the connection without an answer, or after the headers (both with a reset). */
  reset?: 'before-headers' | 'after-headers'
  /** Closes the connection after so many bytes of the body, or so many events; a cut lets what was sent arrive. */
  cutAfterBytes?: number
  cutAfterEvents?: number
  /** Ends the body properly after so many events: the protocol's own end is missing. */
  endAfterEvents?: number
  /** Puts the provider's own error event in place of event n and ends. */
  errorEventAfter?: number
  oneByteChunks?: boolean
  /** Content-Length says so many bytes more (or less) than there are. */
  lieContentLength?: number
  html?: boolean
}

/** How far an answer had come when the other side hung up, counted in what was given to the socket. */
export interface Progress {
  phase: 'before-headers' | 'before-first-byte' | 'mid-stream'
  bytes: number
  events: number
  /** The mock itself ended it badly, as it was told to. */
  cut: boolean
}

const htmlPage = '<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head><body>cloudflare</body></html>\n'

/** The answer that the script makes of the usual one. */
export function applyScript(format: MockFormat, usual: MockAnswer, script: Script, number: number): MockAnswer {
  let answer =
    script.status !== undefined && script.status >= 400 ? format.error(script.status, 'scripted', number) : usual
  if (script.status !== undefined) answer = { ...answer, status: script.status }
  if (script.html)
    answer = whole(
      { ...answer, headers: replaced(answer.headers, 'content-type', 'text/html; charset=UTF-8') },
      htmlPage,
    )
  if (script.body !== undefined) answer = whole(answer, script.body)
  if (script.events !== undefined)
    answer = { ...answer, parts: script.events.map((event) => Buffer.from(event)), streamed: true }
  if (script.flood) {
    const event = Buffer.from(script.flood.event)
    const flood = Array.from({ length: script.flood.times }, () => event)
    answer = { ...answer, parts: [...flood, ...answer.parts], streamed: true }
  }
  if (script.errorEventAfter !== undefined) {
    const sent = answer.parts.slice(0, script.errorEventAfter)
    answer = { ...answer, parts: [...sent, format.streamError('scripted', sent)] }
  }
  if (script.endAfterEvents !== undefined) answer = { ...answer, parts: answer.parts.slice(0, script.endAfterEvents) }
  for (const [name, value] of Object.entries(script.headers ?? {})) {
    answer = { ...answer, headers: replaced(answer.headers, name, value) }
  }
  return answer
}

function whole(answer: MockAnswer, body: string | Buffer): MockAnswer {
  return { ...answer, parts: [Buffer.from(body)], streamed: false, usage: null }
}

function replaced(headers: [string, string][], name: string, value: string | null): [string, string][] {
  const others = headers.filter(([other]) => other.toLowerCase() !== name.toLowerCase())
  return value === null ? others : [...others, [name, value]]
}

/** Sends the answer as the script says. Resolves when nothing more will be sent; `progress` is kept true on the way. */
export async function deliver(
  response: ServerResponse,
  answer: MockAnswer,
  script: Script,
  acceptsGzip: boolean,
  progress: Progress,
): Promise<void> {
  if (!(await pass('headers', response, script))) return
  if (script.reset === 'before-headers') return cut(response, progress, true)
  const parts = prepare(answer, acceptsGzip, script)
  writeHead(response, answer, parts, script)
  progress.phase = 'before-first-byte'
  if (script.reset === 'after-headers') return cut(response, progress, true)
  if (!(await pass('first-byte', response, script))) return
  let room = script.cutAfterBytes ?? Number.POSITIVE_INFINITY
  for (const [index, part] of parts.entries()) {
    if (!(await pass(index, response, script))) return
    if (index === script.cutAfterEvents || room <= 0) return cut(response, progress)
    const bytes = part.subarray(0, Math.min(part.length, room))
    if (!(await write(response, bytes, script.oneByteChunks ?? false))) return
    room -= bytes.length
    progress.phase = 'mid-stream'
    progress.bytes += bytes.length
    progress.events++
  }
  if (room <= 0 || script.cutAfterEvents === parts.length || (script.lieContentLength ?? 0) > 0)
    return cut(response, progress)
  if (!(await pass(parts.length, response, script))) return
  response.end()
}

/** Lets what was written leave, then closes without the end that the framing promised; a reset does not even that. */
function cut(response: ServerResponse, progress: Progress, reset = false): void {
  progress.cut = true
  if (reset) response.socket?.resetAndDestroy()
  else response.socket?.destroySoon()
}

/** Like the real ones, the mock compresses whole answers for whoever says that it can read them. */
function prepare(answer: MockAnswer, acceptsGzip: boolean, script: Script): Buffer[] {
  const plain =
    answer.streamed || !acceptsGzip || script.lieContentLength !== undefined || script.cutAfterBytes !== undefined
  if (plain) return answer.parts
  answer.headers = replaced(answer.headers, 'content-encoding', 'gzip')
  return [gzipSync(Buffer.concat(answer.parts))]
}

function writeHead(response: ServerResponse, answer: MockAnswer, parts: Buffer[], script: Script): void {
  const headers = answer.headers.flat()
  if (!answer.streamed) {
    const length = parts.reduce((sum, part) => sum + part.length, 0) + (script.lieContentLength ?? 0)
    headers.push('Content-Length', String(length))
  }
  response.writeHead(answer.status, headers)
  response.flushHeaders()
}

/** False when the other side hung up while the script held the answer back. */
async function pass(
  place: 'headers' | 'first-byte' | number,
  response: ServerResponse,
  script: Script,
): Promise<boolean> {
  if (script.hold?.before === place) {
    const closed = new Promise<void>((resolve) => response.once('close', resolve))
    await Promise.race([script.hold.until ?? closed, closed])
  }
  return !response.destroyed && response.socket?.destroyed === false
}

async function write(response: ServerResponse, bytes: Buffer, oneByOne: boolean): Promise<boolean> {
  const pieces = oneByOne ? Array.from(bytes, (_, index) => bytes.subarray(index, index + 1)) : [bytes]
  for (const piece of pieces) {
    if (!response.write(piece)) await drained(response)
    if (response.destroyed || response.socket?.destroyed !== false) return false
  }
  return true
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
}
