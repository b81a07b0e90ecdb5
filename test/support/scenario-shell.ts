import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

export interface Outcome {
  status: number
  out: string
  err: string
}

/** What every scenario may use besides programs. A wait ends by itself, as a failed step. */
const prelude = `
await_line() { # FILE TEXT: until a line with the text has been written to the file
  timeout 60 bash -c 'grep -qm1 -F -e "$2" <(exec tail -n +1 -F "$1" 2>/dev/null)' _ "$1" "$2"
}
`

/**
 * One bash for a whole scenario, so that variables, directories and background processes live on from step to step, as
 * in a person's terminal. Each step's streams go to files of their own; what runs on in the background keeps its step's.
 */
export class ScenarioShell {
  readonly #bash: ChildProcess
  readonly #input: Writable
  readonly #statuses: AsyncIterator<string>
  readonly #directory: string
  /** Everything that the shell starts inherits the other end of a pipe; it closes when the last of them has gone. */
  readonly #gone: Promise<unknown>
  #steps = 0

  /** `directory` takes the files of the steps; `home` is where the shell starts. */
  constructor(directory: string, home: string, environment: Record<string, string>) {
    this.#directory = directory
    this.#bash = spawn('bash', ['--noprofile', '--norc'], {
      cwd: home,
      env: environment,
      stdio: ['pipe', 'ignore', 'inherit', 'pipe', 'pipe'],
      // A group of its own, so that whatever a scenario leaves running ends with it.
      detached: true,
    })
    this.#input = this.#bash.stdin as Writable
    this.#statuses = createInterface({ input: this.#bash.stdio[3] as Readable })[Symbol.asyncIterator]()
    const alive = this.#bash.stdio[4] as Readable
    this.#gone = once(alive.resume(), 'close')
    this.#input.write(`${prelude}\n`)
  }

  async run(command: string, forget = false): Promise<Outcome> {
    const step = join(this.#directory, `step-${++this.#steps}`)
    await writeFile(step, `${command}\n`)
    this.#input.write(`. ${step} >${step}.out 2>${step}.err </dev/null 3>&-; echo $? >&3\n`)
    const { value, done } = await this.#statuses.next()
    const [out, err] = await Promise.all([readFile(`${step}.out`, 'utf8'), readFile(`${step}.err`, 'utf8')])
    if (forget) await Promise.all(['', '.out', '.err'].map((end) => rm(step + end)))
    if (done) throw new Error(`the shell ended in: ${command}\n${err}`)
    return { status: Number(value), out, err }
  }

  /** The text with its variables as the shell has them now. Leaves no file behind. */
  async expand(text: string): Promise<string> {
    const names = new Set(text.match(/\$(?:[A-Z_]+|\{[^}]+\})/g))
    let filled = text
    for (const name of names) filled = filled.replaceAll(name, (await this.run(`printf %s "${name}"`, true)).out)
    return filled
  }

  /** Ends the shell and all that it started. */
  async end(): Promise<void> {
    const { pid } = this.#bash
    if (pid === undefined) return
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // Nothing of the group is left.
    }
    await this.#gone
  }
}
