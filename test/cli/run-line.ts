import { catalog } from '../../cli/catalog.ts'
import type { LocalCommand } from '../../cli/local-command.ts'
import type { GatewayClient } from '../../cli/operation.ts'
import { runCli } from '../../cli/program.ts'
import type { ConnectGatewayOptions, Invocation } from '../../cli/run.ts'
import { type FakeIo, type FakeOptions, fakeIo } from './fake-io.ts'

type Answers = Record<
  string,
  (input: Record<string, unknown>, options: { signal?: AbortSignal | undefined }) => unknown
>

export interface Ran {
  status: number
  io: FakeIo
  /** Operation names with their inputs, in order. */
  calls: [string, Record<string, unknown>][]
  connected: ConnectGatewayOptions[]
}

export interface RunOptions extends FakeOptions {
  answers?: FakeOptions['answers']
  /** What the gateway answers, by operation. */
  gateway?: Answers
  /** Which parts of it are sick, as it says with every answer. */
  degraded?: readonly string[]
  local?: readonly LocalCommand[]
  io?: FakeIo
}

/** Runs one command line of the real contract against a gateway of plain functions. */
export async function runLine(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const io = options.io ?? fakeIo(options)
  const ran: Ran = { status: -1, io, calls: [], connected: [] }
  ran.status = await runCli(argv, {
    operations: async () => catalog,
    local: options.local ?? [],
    io,
    version: '0.1.0',
    connect: async (asked) => {
      ran.connected.push(asked)
      return gatewayOf(options.gateway ?? {}, ran.calls, () =>
        asked.onDegraded?.((options.degraded ?? []).map((part) => ({ part, since: '2026-01-02T03:04:05.000Z' }))),
      )
    },
  })
  return ran
}

function gatewayOf(answers: Answers, calls: Ran['calls'], answered: () => void): GatewayClient {
  return {
    async call(path, input, options = {}) {
      const name = path.join('.')
      calls.push([name, { ...input }])
      const answer = answers[name]
      if (answer === undefined) throw new Error(`the test has no answer for ${name}`)
      answered()
      return answer({ ...input }, options)
    },
  }
}

/** What a command line was read as; nothing is run. */
export async function parseLine(argv: readonly string[], options: FakeOptions = {}): Promise<Invocation | FakeIo> {
  const io = fakeIo(options)
  let read: Invocation | null = null
  await runCli(argv, {
    operations: async () => catalog,
    local: [],
    io,
    version: '0.1.0',
    connect: () => Promise.reject(new Error('not in a test of the flags')),
    run: async (invocation) => {
      read = invocation
      return 0
    },
  })
  return read ?? io
}
