import { Interrupted, OutputClosed } from '../../cli/fault.ts'
import type { EnvironmentVariables, Io } from '../../cli/io.ts'

/** A terminal, or none, whose every word is kept. Answers to questions are taken in order; a missing one is Ctrl-C. */
export interface FakeIo extends Io {
  out(): string
  err(): string
  questions: string[]
  interrupt(): void
}

export interface FakeOptions {
  terminal?: boolean
  columns?: number
  here?: string
  stdin?: string
  environment?: EnvironmentVariables
  answers?: readonly (string | boolean)[]
  /** The reader of stdout goes away after so many writes. */
  closesAfter?: number
}

export const sampleNow = Date.parse('2026-03-01T12:00:00Z')

export function fakeIo(options: FakeOptions = {}): FakeIo {
  const terminal = options.terminal ?? false
  const written = { out: '', err: '' }
  const questions: string[] = []
  const answers = [...(options.answers ?? [])]
  const listeners = new Set<() => void>()
  let writes = 0
  const answer = (question: string) => {
    questions.push(question)
    const next = answers.shift()
    if (next === undefined) throw new Interrupted()
    return next
  }
  return {
    stdout: {
      isTerminal: terminal,
      columns: terminal ? (options.columns ?? 100) : null,
      async write(text) {
        if (writes++ >= (options.closesAfter ?? Number.POSITIVE_INFINITY)) throw new OutputClosed()
        written.out += text
      },
    },
    stderr: {
      isTerminal: terminal,
      columns: terminal ? (options.columns ?? 100) : null,
      async write(text) {
        written.err += text
      },
    },
    stdin: { isTerminal: terminal, readAll: async () => options.stdin ?? '' },
    environment: { NO_COLOR: '1', ...options.environment },
    prompter: {
      ask: async (question) => String(answer(question)),
      askHidden: async (question) => String(answer(`hidden: ${question}`)),
      choose: async (question, choices) => String(answer(`${question} [${choices.join('|')}]`)),
      confirm: async (question) => answer(question) === true,
    },
    here: () => options.here ?? '/here',
    now: () => sampleNow,
    onInterrupt(react) {
      listeners.add(react)
      return () => listeners.delete(react)
    },
    out: () => written.out,
    err: () => written.err,
    questions,
    interrupt: () => {
      for (const react of listeners) react()
    },
  }
}
