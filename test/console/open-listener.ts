import http from 'node:http'
import { onTestFinished } from 'vitest'
import {
  type ConsoleListener,
  type ConsoleOptions,
  type ConsoleParts,
  startConsole,
} from '../../src/console/listener.ts'
import type { GatewayState } from '../../src/console/metrics.ts'

export function sampleState(change: Partial<GatewayState> = {}): GatewayState {
  return {
    workers: 2,
    inFlight: 3,
    heldBytes: 0,
    heldLimit: 500_000_000,
    requestsSinceStart: 7,
    parts: [
      { part: 'journal', degraded: false, times: 0 },
      { part: 'store', degraded: false, times: 2 },
    ],
    providers: [{ name: 'openai', kind: 'openai', state: 'ready' }],
    budgets: [],
    accounts: [],
    routes: 1,
    keys: 1,
    databaseBytes: 1000,
    journalBytes: null,
    recordLagMs: 250,
    setAside: [],
    entriesLost: 0,
    longTurns: [],
    traces: null,
    cache: null,
    deliveries: { delivered: 0, retried: 0, failed: 0 },
    ...change,
  }
}

export interface TestListener extends ConsoleListener {
  faults: unknown[]
}

/** Listening, but open only once `open` is called. */
export async function startListener(options: Partial<ConsoleOptions> = {}): Promise<TestListener> {
  const faults: unknown[] = []
  const listener = await startConsole({
    host: '127.0.0.1',
    port: 0,
    url: null,
    metricsToken: null,
    trustedProxies: [],
    oidc: null,
    certificate: null,
    version: '1.2.3',
    onFault: (error) => faults.push(error),
    ...options,
  })
  onTestFinished(() => listener.close())
  return { ...listener, faults }
}

/** For what comes in where nobody can sign in: a call of its parts is a fault. */
export const unasked: Pick<ConsoleParts, 'signIn' | 'dispatcher' | 'confirmReach'> = {
  get signIn(): ConsoleParts['signIn'] {
    const nothing = new Proxy({}, { get: (_target, name) => (name === 'then' ? undefined : fail()) })
    return { store: nothing, keyring: nothing } as unknown as ConsoleParts['signIn']
  },
  dispatcher: () => fail(),
  confirmReach: () => fail(),
}

function fail(): never {
  throw new Error('nothing here is asked for')
}

export async function openListener(state: GatewayState = sampleState(), options: Partial<ConsoleOptions> = {}) {
  const listener = await startListener(options)
  listener.open({ state: async () => state, openApi: async () => ({ openapi: '3.1.1' }), ...unasked })
  return listener
}

export interface Answer {
  status: number
  headers: http.IncomingHttpHeaders
  body: string
}

/** Unlike `fetch` it sends whatever host and headers it is told to. */
export function ask(url: string, options: http.RequestOptions & { body?: string } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { agent: false, ...options }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
    })
    request.on('error', reject)
    request.end(options.body)
  })
}
