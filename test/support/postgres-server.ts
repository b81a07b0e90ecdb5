import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** Where Debian puts them, the newest first; else whatever is on the path. */
function findPrograms(): string | null {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).sort((one, other) => Number(other) - Number(one)) : []
  const found = versions.map((version) => join(root, version, 'bin')).find((path) => existsSync(join(path, 'initdb')))
  return found ?? null
}

export const postgresPrograms = findPrograms()

/** In the name of every test that needs it. */
export const needsPostgres = 'needs postgresql: apt-get install postgresql'

/** PostgreSQL refuses to run as root, and as a user without a name: then it runs as Debian's `nobody`. */
const otherUser = 65_534

/** A real PostgreSQL of its own, that can be stopped and started again where it was. */
export class PostgresServer {
  readonly directory: string
  readonly port: number
  readonly #programs: string
  readonly #identity: { uid?: number; gid?: number }

  private constructor(programs: string, port: number) {
    this.#programs = programs
    this.port = port
    this.directory = mkdtempSync(join(tmpdir(), 'spgw-postgres-'))
    this.#identity = process.getuid?.() === 0 ? { uid: otherUser, gid: otherUser } : {}
    chmodSync(this.directory, 0o700)
    if (this.#identity.uid !== undefined) chownSync(this.directory, otherUser, otherUser)
  }

  static async start(): Promise<PostgresServer> {
    if (postgresPrograms === null) throw new Error(needsPostgres)
    const server = new PostgresServer(postgresPrograms, await freePort())
    server.#initialize()
    server.start()
    return server
  }

  /**
   * `initdb` costs three quarters of a second of processor time: a run of the tests does it once, and copies what it left. All
   * copies carry one system identifier, as a server and its standby do.
   */
  #initialize(): void {
    const kept = process.env.SPGW_TEST_POSTGRES
    if (kept !== undefined && existsSync(kept)) return void this.#run('cp', ['-a', kept, this.#data])
    this.#run('initdb', ['-D', this.#data, '-U', 'spgw', '-A', 'trust', '-N', '-E', 'UTF8', '--locale=C'])
    if (kept === undefined) return
    const copy = join(this.directory, 'copy')
    this.#run('cp', ['-a', this.#data, copy])
    try {
      renameSync(copy, kept)
    } catch (error) {
      // Another process was first: a directory takes the place of none that has something in it.
      if (!existsSync(kept)) throw error
    }
  }

  /**
   * A standby that follows by streaming, `port` being where it finds this server from then on. It takes over with `promote`.
   */
  async addStandby(port = this.port): Promise<PostgresServer> {
    const standby = new PostgresServer(this.#programs, await freePort())
    const from = ['-h', '127.0.0.1', '-p', `${this.port}`, '-U', 'spgw']
    const program = join(this.#programs, 'pg_basebackup')
    // The copy may take long: this process goes on meanwhile.
    await execute(program, [...from, '-D', standby.#data, '-R', '-N', '-c', 'fast'], {
      ...{ cwd: standby.directory, env: { ...process.env, LC_ALL: 'C' } },
      ...standby.#identity,
    })
    const line = `primary_conninfo = 'host=127.0.0.1 port=${port} user=spgw'\n`
    appendFileSync(join(standby.#data, 'postgresql.auto.conf'), line)
    standby.start()
    return standby
  }

  promote(): void {
    this.#run('pg_ctl', ['-D', this.#data, '-w', 'promote'])
  }

  get #data(): string {
    return join(this.directory, 'data')
  }

  start(): void {
    this.#run('pg_ctl', this.#startArguments)
  }

  /** While this process goes on: proxies that live in it pass on what nodes say to other servers. */
  async startBeside(): Promise<void> {
    const options = { cwd: this.directory, stdio: 'ignore', ...this.#identity } as const
    const [code] = await once(spawn(join(this.#programs, 'pg_ctl'), this.#startArguments, options), 'exit')
    if (code !== 0) throw new Error(`PostgreSQL does not start: pg_ctl ended with ${code}`)
  }

  get #startArguments(): string[] {
    const options = `-p ${this.port} -k ${this.directory} -c listen_addresses=127.0.0.1 -c fsync=off`
    return ['-D', this.#data, '-o', options, '-w', '-l', join(this.directory, 'log'), 'start']
  }

  /** At once, as if the machine had gone. */
  stop(): void {
    this.#run('pg_ctl', ['-D', this.#data, '-m', 'immediate', '-w', 'stop'])
  }

  /** Of all that is there, while it is stopped. */
  keepCopy(): void {
    this.#run('cp', ['-a', this.#data, this.#copy])
  }

  /** As from a backup. */
  restoreCopy(): void {
    rmSync(this.#data, { recursive: true })
    renameSync(this.#copy, this.#data)
  }

  get #copy(): string {
    return join(this.directory, 'kept')
  }

  get processId(): number {
    return Number(readFileSync(join(this.#data, 'postmaster.pid'), 'utf8').split('\n', 1)[0])
  }

  query(text: string): string {
    return this.#run('psql', this.#queryArguments(text))
  }

  /** The same, while this process goes on. */
  async queryBeside(text: string): Promise<string> {
    const options = { cwd: this.directory, maxBuffer: 1e9, ...this.#identity }
    return (await execute(join(this.#programs, 'psql'), this.#queryArguments(text), options)).stdout
  }

  #queryArguments(text: string): string[] {
    return ['-h', this.directory, '-p', `${this.port}`, '-U', 'spgw', '-d', 'postgres', '-Atc', text]
  }

  remove(): void {
    spawnSync(join(this.#programs, 'pg_ctl'), ['-D', this.#data, '-m', 'immediate', 'stop'], {
      cwd: this.directory,
      ...this.#identity,
    })
    rmSync(this.directory, { recursive: true, force: true })
  }

  #run(program: string, args: string[]): string {
    // Of all records of a long run.
    const options = { cwd: this.directory, encoding: 'utf8', maxBuffer: 1e9, ...this.#identity } as const
    // A server that goes on holds on to the streams that it was given.
    const stdio = program === 'pg_ctl' ? 'ignore' : (['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'])
    const env = { ...process.env, LC_ALL: 'C' }
    return (
      execFileSync(program === 'cp' ? program : join(this.#programs, program), args, { ...options, stdio, env }) ?? ''
    )
  }
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}
