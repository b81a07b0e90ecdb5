/** What a local command needs of the terminal: a part of the command line's own `Io`, so that this room need not know that one. */
export interface CommandIo {
  stdout: { isTerminal: boolean; write(text: string): Promise<void> }
  stderr: { isTerminal: boolean; write(text: string): Promise<void> }
  stdin: { isTerminal: boolean; readAll(): Promise<string> }
  environment: Readonly<Record<string, string | undefined>>
  prompter: { askHidden(question: string): Promise<string>; confirm(question: string): Promise<boolean> }
}

/** A command that works without a running gateway, in the shape that the command line takes. */
export interface DaemonCommand {
  name: string
  summary: string
  /** Plain arguments, in order; each is required. */
  arguments?: readonly { name: string; description: string; choices?: readonly string[] }[]
  options: readonly { flags: string; description: string }[]
  examples: readonly string[]
  /** Options and arguments by camel-case name. */
  run(
    options: Record<string, unknown>,
    io: CommandIo,
    settings: { dataDir: string | null; output: string; yes: boolean },
  ): Promise<number>
}
