import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type AdminClient, createAdminClient } from '../../src/admin/client.ts'
import { openSocketTransport } from '../../src/admin/socket-transport.ts'

export interface Program {
  command: string
  leading: readonly string[]
}

export interface StartOptions {
  program: Program
  dataDirectory: string
  environment?: Record<string, string>
}

/** One run of the gateway, on a data directory that others ran on before. */
export class CrashGateway {
  readonly dataDirectory: string
  /** Resolves at its end, however that came. */
  readonly ended: Promise<void>
  /** Resolves to its address when it listens; null when it ends before that. */
  readonly ready: Promise<string | null>
  readonly #child: ChildProcess
  #output = ''
  #over = false

  constructor({ program, dataDirectory, environment = {} }: StartOptions) {
    this.dataDirectory = dataDirectory
    const flags = ['--data-dir', dataDirectory, '--listen', '127.0.0.1:0', '--console-listen', '127.0.0.1:0']
    this.#child = spawn(program.command, [...program.leading, 'serve', ...flags], {
      env: { PATH: process.env.PATH ?? '', NO_COLOR: '1', ...environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    running.add(this.#child)
    const ready = Promise.withResolvers<string | null>()
    this.ready = ready.promise
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text
      const address = /^spgw .*gateway (http:\/\/\S+)\s/m.exec(this.#output)?.[1]
      if (address !== undefined) ready.resolve(address)
    })
    this.ended = once(this.#child, 'close').then(() => {
      this.#over = true
      running.delete(this.#child)
      ready.resolve(null)
    })
  }

  get over(): boolean {
    return this.#over
  }

  /** Whether SIGKILL ended it, and not an end of its own. */
  get killed(): boolean {
    return this.#child.signalCode === 'SIGKILL'
  }

  get output(): string {
    return this.#output
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.ended
  }

  /** The typed client on the admin socket, for as long as `use` takes. */
  async withAdmin<Output>(use: (admin: AdminClient) => Promise<Output>): Promise<Output> {
    const transport = openSocketTransport(join(this.dataDirectory, 'admin.sock'), { waitMs: 3000 })
    try {
      return await use(createAdminClient({ transport, version: 'crash', surface: 'cli' }))
    } finally {
      await transport.close()
    }
  }
}

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
