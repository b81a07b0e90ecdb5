import { catalog } from '../../cli/catalog.ts'
import type { GatewayClient } from '../../cli/operation.ts'
import { prepareWidths } from '../../cli/print/text-width.ts'
import { drawFrame, type TerminalStyle } from '../../tui/frame.ts'
import { readText } from '../../tui/keys.ts'
import { everything, type ViewScope } from '../../tui/scope.ts'
import { TuiSession } from '../../tui/session.ts'

/** As the interface itself does at its start. */
await prepareWidths('漢')

export interface Call {
  path: string
  input: Record<string, unknown>
}

export type Answers = Record<string, unknown>

export interface Driven {
  session: TuiSession
  calls: Call[]
  copied: string[]
  /** Whole keys (`enter`, `ctrl-s`), or text after a `=`. */
  press(...keys: string[]): Promise<void>
  /** Resolves when the screen holds the text. */
  see(text: string): Promise<string>
  until(isSo: () => boolean): Promise<void>
  text(columns?: number, rows?: number, style?: Partial<TerminalStyle>): string
  stop(): void
}

/** A stream that says what it is given, and then nothing until it is ended. */
export async function* streamOf(rows: readonly unknown[], signal?: AbortSignal): AsyncGenerator<unknown> {
  yield* rows
  await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
}

/** What is loaded only where it is used comes later than the next turns. */
const mostMs = 20_000

/** The whole interface without a terminal, before a gateway whose answers are given by operation; a function is asked for one. */
export function drive(answers: Answers = {}, scope: ViewScope = everything): Driven {
  const calls: Call[] = []
  const copied: string[] = []
  const gateway: GatewayClient = {
    async call(path, input, options) {
      const name = path.join('.')
      calls.push({ path: name, input: { ...input } })
      const answer = answers[name]
      if (typeof answer === 'function') return answer(input)
      return answer ?? defaultAnswer(name, options?.signal)
    },
  }
  const session = new TuiSession({
    operations: catalog,
    connect: async () => gateway,
    scope,
    now: () => Date.parse('2026-11-21T12:00:00Z'),
    copy: (text) => copied.push(text),
    save: async () => ({ file: '/tmp/file' }),
    readFiles: async (paths) => ({ files: Object.fromEntries(paths.map((path) => [path, 'text'])), variables: {} }),
  })
  session.start(() => {})
  const text: Driven['text'] = (columns = 100, rows = 40, style = {}) =>
    drawFrame(session, { columns, rows }, { colour: false, unicode: true, utc: false, ...style }).join('\n')
  return {
    session,
    calls,
    copied,
    text,
    async press(...keys) {
      for (const key of keys) {
        if (key.startsWith('=')) for (const press of readText(key.slice(1))) session.press(press)
        else session.press({ name: key, text: key.length === 1 ? key : '' })
        await settle()
      }
    },
    async see(wanted) {
      for (const end = performance.now() + mostMs; performance.now() < end; ) {
        const shown = text()
        if (shown.includes(wanted)) return shown
        await settle()
      }
      throw new Error(`The screen never showed "${wanted}":\n${text()}`)
    },
    async until(isSo) {
      for (const end = performance.now() + mostMs; performance.now() < end && !isSo(); ) await settle()
      if (!isSo()) throw new Error(`It never came to be:\n${text()}`)
    },
    stop: () => session.stop(),
  }
}

/** Everything that waits for an answer that is there already has had it. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

function defaultAnswer(name: string, signal: AbortSignal | undefined): unknown {
  const show = catalog.find((operation) => operation.name === name)?.meta.show
  if (show?.as === 'live' || show?.as === 'file') return streamOf([], signal)
  return show?.as === 'table' ? [] : {}
}

export const provider = {
  id: 'prv_01jd3k4m5n6p7q8r9s0t1v2w3x',
  name: 'openai',
  kind: 'openai',
  active: true,
  state: 'ready',
  state_reason: null,
  state_since: null,
  base_url: 'https://api.openai.com/v1',
  headers: { 'x-team': 'search' },
  projects: null,
  tags: {},
  timeouts: { connect_ms: null, first_byte_ms: 60_000, between_chunks_ms: null, total_ms: null },
  settings: {},
  credentials: [],
  models: [],
  revision: 2,
  routes: 4,
  last_hour: { requests: 1204, errors: 0, duration_p95_ms: 1900 },
  created_at: '2026-11-20T12:00:00Z',
}
