import { Interrupted, OutputClosed } from './fault.ts'
import type { Environment, Io, Output, Prompter } from './io.ts'

interface Streams {
  stdin: NodeJS.ReadStream
  stdout: NodeJS.WriteStream
  stderr: NodeJS.WriteStream
  on(event: 'SIGINT', react: () => void): unknown
  off(event: 'SIGINT', react: () => void): unknown
  cwd(): string
}

/** The real thing: `terminalIo(process, environment)`. */
export function terminalIo(streams: Streams, environment: Environment): Io {
  return {
    stdout: openOutput(streams.stdout),
    stderr: openOutput(streams.stderr),
    stdin: { isTerminal: streams.stdin.isTTY === true, readAll: () => readAll(streams.stdin) },
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

function openOutput(stream: NodeJS.WriteStream): Output {
  // A write to a closed pipe also raises 'error' on the stream; without a listener that would end the process.
  stream.on('error', () => {})
  return {
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.isTTY === true ? stream.columns : null
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        stream.write(text, (error) => {
          if (!error) resolve()
          else reject('code' in error && error.code === 'EPIPE' ? new OutputClosed() : error)
        })
      }),
  }
}

async function readAll(stream: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

function openPrompter({ stdin, stderr }: Streams): Prompter {
  const context = { input: stdin, output: stderr }
  // Loaded on the first question: most commands never ask one.
  const prompts = () => import('@inquirer/prompts')
  return {
    ask: (message, { required }) => answer(async () => (await prompts()).input({ message, required }, context)),
    askHidden: (message) => answer(async () => (await prompts()).password({ message, toggleMask: false }, context)),
    choose: (message, choices) =>
      answer(async () => (await prompts()).select({ message, choices: [...choices] }, context)),
    confirm: (message) => answer(async () => (await prompts()).confirm({ message, default: false }, context)),
  }
}

async function answer<Value>(question: () => Promise<Value>): Promise<Value> {
  try {
    return await question()
  } catch (error) {
    if (error instanceof Error && error.name === 'ExitPromptError') throw new Interrupted()
    throw error
  }
}
