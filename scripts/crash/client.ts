import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { type Call, type CallKind, makeCall, type Stage } from './call.ts'
import type { Random } from './random.ts'

export interface LoadOptions {
  baseUrl: string
  stage: Stage
  random: Random
  /** How many clients send one request after the other. */
  clients: number
  /** Nothing but this. */
  only?: CallKind
  nextMark(): string
  /** Told of each call before its first byte goes out. */
  onCall(call: Call): void
}

/** Clients of a gateway that will be killed under them. */
export class Load {
  readonly #options: LoadOptions
  readonly #agent: Agent
  readonly #clients: Promise<void>[]
  /** Resolves when the first has seen the head of an answer. */
  readonly begun: Promise<void>
  #hasBegun: () => void
  #ended = false

  constructor(options: LoadOptions) {
    this.#options = options
    const { promise, resolve } = Promise.withResolvers<void>()
    this.begun = promise
    this.#hasBegun = resolve
    this.#agent = new Agent({ keepAlive: true, maxSockets: options.clients })
    this.#clients = Array.from({ length: options.clients }, () => this.#play())
  }

  /** Resolves when no request is under way; call it when the gateway is dead. */
  async end(): Promise<void> {
    this.#ended = true
    await Promise.all(this.#clients)
    this.#agent.destroy()
  }

  async #play(): Promise<void> {
    const { stage, random, nextMark, onCall, only } = this.#options
    while (!this.#ended) {
      const call = makeCall(nextMark(), stage, random, only)
      onCall(call)
      const answered = await this.#send(call)
      // The gateway is gone, or about to say why not; whoever kills it ends the load.
      if (!answered) await wait(10)
    }
  }

  /** Fills in what the client saw; false when it saw no head. */
  #send(call: Call): Promise<boolean> {
    const { baseUrl, random } = this.#options
    const done = Promise.withResolvers<boolean>()
    const outgoing = httpRequest(baseUrl + call.path, {
      method: 'POST',
      headers: Object.fromEntries([...call.headers, ['content-length', String(call.bodyBytes)]]),
      agent: this.#agent,
    })
    outgoing.on('error', () => done.resolve(call.id !== null))
    outgoing.once('response', (response) => {
      this.#hasBegun()
      read(call, response, () => done.resolve(true))
    })
    if (call.kind === 'abort') {
      void wait(random.between(0, 80)).then(() => {
        call.hungUp = !call.complete
        outgoing.destroy()
        done.resolve(call.id !== null)
      })
    }
    outgoing.end(call.body)
    // Each call is kept until the end of the run, and some have a megabyte.
    call.body = ''
    return done.promise
  }
}

function read(call: Call, response: IncomingMessage, finish: () => void): void {
  call.id = String(response.headers['x-sp-request-id'])
  call.status = response.statusCode ?? 0
  let tail = ''
  response.setEncoding('latin1')
  response.on('data', (text: string) => {
    tail = (tail + text).slice(-2000)
    if (call.endMark !== null && call.status === 200 && tail.includes(call.endMark)) call.complete = true
  })
  response.once('end', () => {
    if (response.complete) call.complete = true
  })
  response.once('error', finish)
  response.once('close', finish)
}
