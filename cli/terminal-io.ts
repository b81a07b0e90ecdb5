import { isatty } from 'node:tty'
import { errorCode } from '../src/core/caught.ts'
import { readBounded, tooLong } from '../src/core/text/bounded-text.ts'
import { Interrupted, OutputClosed, usageFault } from './fault.ts'
import type { EnvironmentVariables, Io, Output, Prompter } from './io.ts'

interface Streams {
  stdin: NodeJS.ReadStream
  stdout: NodeJS.WriteStream
  stderr: NodeJS.WriteStream
  on(event: 'SIGINT', react: () => void): unknown
  off(event: 'SIGINT', react: () => void): unknown
  cwd(): string
}

/** The real thing: `terminalIo(process, environment)`. */
export function terminalIo(streams: Streams, environment: EnvironmentVariables): Io {
  return {
    stdout: openOutput(() => streams.stdout, isatty(1)),
    stderr: openOutput(() => streams.stderr, isatty(2)),
    stdin: { isTerminal: isatty(0), readAll: () => readAll(streams.stdin) },
    environment,
    prompter: openPrompter(streams),
    here: () => streams.cwd(),
    now: Date.now,
    onInterrupt(react) {
      streams.on('SIGINT', react)
      return () => streams.off('SIGINT', react)
    },
  }
}

/** Node makes a stream when it is first asked for, and most commands use one of the three. */
function openOutput(open: () => NodeJS.WriteStream, isTerminal: boolean): Output {
  let opened: NodeJS.WriteStream | undefined
  const stream = () => {
    // A write to a closed pipe also raises 'error' on the stream; without a listener that would end the process.
    opened ??= open().on('error', () => {})
    return opened
  }
  return {
    isTerminal,
    get columns() {
      // A pseudo-terminal that nobody gave a size (docker exec -t, script) says 0.
      return isTerminal ? stream().columns || null : null
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        stream().write(text, (error) => {
          if (!error) resolve()
          else reject(errorCode(error) === 'EPIPE' ? new OutputClosed() : error)
        })
      }),
  }
}

async function readAll(stream: NodeJS.ReadStream): Promise<string> {
  const text = await readBounded(stream)
  if (text === null) throw usageFault(`Standard input ${tooLong}.`, 'Give less of it at a time.')
  return text
}

function openPrompter(streams: Streams): Prompter {
  // Loaded on the first question: most commands never ask one.
  const prompts = () => import('@inquirer/prompts')
  return {
    ask: (message, { required }) =>
      answer(async () => (await prompts()).input({ message, required }, contextOf(streams))),
    askHidden: (message) =>
      answer(async () => (await prompts()).password({ message, toggleMask: false }, contextOf(streams))),
    choose: (message, choices) =>
      answer(async () => (await prompts()).select({ message, choices: [...choices] }, contextOf(streams))),
    confirm: (message) =>
      answer(async () => (await prompts()).confirm({ message, default: false }, contextOf(streams))),
  }
}

/** Questions go to stderr, so that stdout can be captured meanwhile. */
function contextOf({ stdin, stderr }: Streams) {
  return { input: stdin, output: stderr }
}

async function answer<Value>(question: () => Promise<Value>): Promise<Value> {
  try {
    return await question()
  } catch (error) {
    if (error instanceof Error && error.name === 'ExitPromptError') throw new Interrupted()
    throw error
  }
}
