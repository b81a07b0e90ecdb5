import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const patienceMs = 60_000

export interface PaneOptions {
  columns?: number
  rows?: number
  environment?: Record<string, string>
}

/** A shell in a terminal that nobody sees: tmux, with a server of its own that ends with it. */
export class Pane {
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
  }

  static async open({ columns = 80, rows = 24, environment = {} }: PaneOptions = {}): Promise<Pane> {
    const pane = new Pane(await mkdtemp(join(tmpdir(), 'pane-')))
    const variables = { PATH: process.env.PATH ?? '', LANG: 'C.UTF-8', PS1: 'shell> ', ...environment }
    const assigned = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
    // Inside, TERM is what tmux draws; a test may say otherwise.
    const shell = ['env', '-i', 'TERM=tmux-256color', ...assigned, 'bash', '--norc', '--noprofile', '-i']
    const size = ['-x', String(columns), '-y', String(rows)]
    await pane.#tmux('-f', '/dev/null', 'new-session', '-d', ...size, ...shell)
    await pane.#tmux('set-option', '-g', 'escape-time', '0')
    await pane.see('shell>')
    return pane
  }

  /** Keys by their name in tmux: `Enter`, `Escape`, `C-z`, or a character. */
  async press(...keys: string[]): Promise<void> {
    await this.#tmux('send-keys', ...keys)
  }

  async type(text: string): Promise<void> {
    await this.#tmux('send-keys', '-l', text)
  }

  /** Runs a command line in the shell. */
  async run(line: string): Promise<void> {
    await this.type(line)
    await this.press('Enter')
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.#tmux('resize-window', '-x', String(columns), '-y', String(rows))
  }

  /** What is on the screen, without what is right of the last sign of a line. */
  async text(): Promise<string> {
    const { stdout } = await this.#tmux('capture-pane', '-p')
    return stdout
  }

  /** With its colours. */
  async painted(): Promise<string> {
    const { stdout } = await this.#tmux('capture-pane', '-p', '-e')
    return stdout
  }

  /** Resolves with the screen once it holds all of that. */
  async see(...wanted: (string | RegExp)[]): Promise<string> {
    return this.#await((text) => wanted.every((one) => holds(text, one)), `it never showed ${wanted.join(', ')}`)
  }

  async seeNoMore(...unwanted: (string | RegExp)[]): Promise<string> {
    return this.#await((text) => !unwanted.some((one) => holds(text, one)), `it went on showing ${unwanted.join(', ')}`)
  }

  async #await(isSo: (text: string) => boolean, otherwise: string): Promise<string> {
    const deadline = performance.now() + patienceMs
    while (true) {
      const text = await this.text()
      if (isSo(text)) return text
      if (performance.now() > deadline) throw new Error(`${otherwise}:\n${text}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  /** Whether a program has the other screen now, which programs like editors use. */
  async hasOtherScreen(): Promise<boolean> {
    const { stdout } = await this.#tmux('display-message', '-p', '#{alternate_on}')
    return stdout.trim() === '1'
  }

  /** Whether a line that is too long goes on in the next one, as it does where no program changed that. */
  async wraps(): Promise<boolean> {
    const { stdout } = await this.#tmux('display-message', '-p', '#{wrap_flag}')
    return stdout.trim() === '1'
  }

  /** To the program that the shell runs. */
  async signal(signal: string): Promise<void> {
    const { stdout: shell } = await this.#tmux('display-message', '-p', '#{pane_pid}')
    const { stdout: child } = await run('ps', ['-o', 'pid=', '--ppid', shell.trim()])
    process.kill(Number(child.trim()), signal)
  }

  async close(): Promise<void> {
    await this.#tmux('kill-server').catch(() => {})
    await rm(this.#directory, { recursive: true, force: true })
  }

  #tmux(...args: string[]): Promise<{ stdout: string }> {
    return run('tmux', ['-S', join(this.#directory, 'socket'), ...args])
  }
}

function holds(text: string, wanted: string | RegExp): boolean {
  return typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text)
}
