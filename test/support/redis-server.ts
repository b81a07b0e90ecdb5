import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from './postgres-server.ts'

/** Valkey where there is one, else the Redis that Debian 12 has. */
const program = ['/usr/bin/valkey-server', '/usr/bin/redis-server'].find((path) => existsSync(path)) ?? null

export const hasRedis = program !== null

/** In the name of every test that needs it. */
export const needsRedis = 'needs redis-server: apt-get install redis-server'

/** A real server of its own, that can be stopped and started again where it was, with nothing in it. */
export class RedisServer {
  readonly port: number
  readonly #directory = mkdtempSync(join(tmpdir(), 'spgw-redis-'))
  #options: readonly string[]
  #child: ChildProcess | null = null

  private constructor(port: number, options: readonly string[]) {
    this.port = port
    this.#options = options
  }

  /** `options`: further words of its command line. */
  static async start(options: readonly string[] = []): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), options)
    await server.start()
    return server
  }

  async start(): Promise<void> {
    if (program === null) throw new Error(needsRedis)
    const settings = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--dir', this.#directory]
    this.#child = spawn(program, [...settings, ...this.#options], { stdio: 'ignore' })
    while (!(await this.#answers())) await wait(10)
  }

  /** One that follows this one. It takes over with `promote`. */
  async addReplica(): Promise<RedisServer> {
    return await RedisServer.start(['--replicaof', '127.0.0.1', String(this.port), '--repl-diskless-sync-delay', '0'])
  }

  /** It stays one that follows nobody when it is started again. */
  async promote(): Promise<void> {
    this.#options = []
    await this.command('REPLICAOF', 'NO', 'ONE')
  }

  /** In one line, and so is what it answers. */
  async command(...words: string[]): Promise<string> {
    const socket = createConnection(this.port, '127.0.0.1')
    socket.write(`${words.join(' ')}\r\n`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    return answer.toString().trim()
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  /** At once, as if the machine had gone. */
  async stop(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  async #answers(): Promise<boolean> {
    if (this.#child?.exitCode !== null) throw new Error('redis-server ended')
    return await new Promise((resolve) => {
      const socket = createConnection(this.port, '127.0.0.1', () => {
        socket.destroy()
        resolve(true)
      })
      socket.on('error', () => resolve(false))
    })
  }
}
