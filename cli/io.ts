/** The command line's whole contact with the outside, handed in so that every command can be run without a terminal. */
export interface Io {
  stdout: Output
  stderr: Output
  stdin: { isTerminal: boolean; readAll(): Promise<string> }
  environment: EnvironmentVariables
  prompter: Prompter
  /** The current directory. */
  here(): string
  /** Milliseconds since the epoch, for relative ages. */
  now(): number
  /** Calls back at each Ctrl-C until the returned function is called. */
  onInterrupt(react: () => void): () => void
}

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

export interface Output {
  isTerminal: boolean
  /** Width in columns; null when unknown. */
  columns: number | null
  /** Resolves when the text is handed to the system; rejects with `OutputClosed` when the reader has gone. */
  write(text: string): Promise<void>
}

/** Questions to a person, on stderr. Ctrl-C in one rejects with `Interrupted`. */
export interface Prompter {
  /** An empty answer is '' and allowed only where `required` is false. */
  ask(question: string, options: { required: boolean }): Promise<string>
  /** Nothing of the answer is shown, not even its length. */
  askHidden(question: string): Promise<string>
  choose(question: string, choices: readonly string[]): Promise<string>
  confirm(question: string): Promise<boolean>
}

/** May a person be asked? Questions go to stderr, so that stdout can be captured meanwhile. */
export function canAsk(io: Io): boolean {
  return io.stdin.isTerminal && io.stderr.isTerminal
}

export function withoutColour(io: Io): Io {
  return { ...io, environment: { ...io.environment, NO_COLOR: '1', FORCE_COLOR: undefined } }
}

/** FORCE_COLOR beats NO_COLOR, as in Node itself (https://force-color.org, https://no-color.org). */
export function wantsColour(output: { isTerminal: boolean }, environment: EnvironmentVariables): boolean {
  const forced = environment.FORCE_COLOR
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false'
  if (environment.NO_COLOR !== undefined && environment.NO_COLOR !== '') return false
  return output.isTerminal && environment.TERM !== 'dumb'
}
