/** What a local command needs of the terminal: a part of the command line's own `Io`, so that this room need not know that one. */
export interface CommandIo {
  stdout: { write(text: string): Promise<void> }
  stderr: { isTerminal: boolean; write(text: string): Promise<void> }
  environment: Readonly<Record<string, string | undefined>>
}

/** A command that works without a running gateway, in the shape that the command line takes. */
export interface LocalCommand {
  name: string
  summary: string
  options: readonly { flags: string; description: string }[]
  examples: readonly string[]
  run(options: Record<string, unknown>, io: CommandIo, settings: { dataDir: string | null }): Promise<number>
}
