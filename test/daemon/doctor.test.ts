import { spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { loadSettings } from '../../src/config/load.ts'
import type { Diagnostic } from '../../src/core/diagnostic.ts'
import { initialise } from '../../src/daemon/commands/init.ts'
import { checkDirectory } from '../../src/daemon/doctor/directory.ts'
import { remedyFor } from '../../src/daemon/doctor/key-and-database.ts'
import { checkMachine } from '../../src/daemon/doctor/machine.ts'
import { listen } from '../support/listen.ts'
import { startMockCollector } from '../support/mock-collector.ts'

let directory: string
const environment = { SPGW_GATEWAY_LISTEN: '127.0.0.1:0', SPGW_CONSOLE_LISTEN: '127.0.0.1:0' }

beforeEach(async () => {
  const parent = mkdtempSync(join(tmpdir(), 'doctor-'))
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }))
  directory = join(parent, 'data')
  await initialise(loadSettings({ environment, flags: { dataDir: directory } }), null, false)
})

async function examine(
  more: Record<string, string> = {},
  now = Date.now(),
  file: string | null = null,
): Promise<Diagnostic[]> {
  const place = { dataDirectory: directory, file, processId: null, settingsFile: null, degraded: [] }
  return checkMachine({ ...place, environment: { ...environment, ...more }, now })
}

/** What is not well, as `state check: message`. */
async function complaints(more: Record<string, string> = {}, now = Date.now()): Promise<string[]> {
  const found = (await examine(more, now)).filter(({ state }) => state !== 'ok')
  for (const { remedy } of found) expect(remedy).toMatch(/./)
  return found.map(({ state, check, message }) => `${state} ${check}: ${message}`)
}

function change(text: string): void {
  const sqlite = new Sqlite(join(directory, 'spgw.db'))
  sqlite.exec(text)
  sqlite.close()
}

/** Stands for a gateway: all that is looked at is what it was started with. */
function startProcess(environment: Record<string, string>) {
  const child = spawn('sleep', ['60'], { env: { ...process.env, ...environment }, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

describe('what doctor sees of a machine', () => {
  it('is nothing, where all is well', async () => {
    expect(await complaints()).toEqual([])
    const checks = (await examine()).map(({ check }) => check)
    for (const check of ['settings', 'data directory', 'disk', 'clock', 'machine key', 'database', 'seal', 'audit'])
      expect(checks).toContain(check)
  })

  it('is a collector that takes no traces', async () => {
    const collector = await startMockCollector()
    const settings = { SPGW_TELEMETRY_OTLP_ENDPOINT: collector.url }
    expect(await complaints(settings)).toEqual([])
    expect([collector.faults, collector.spans]).toEqual([[], []])
    collector.answers.push({ status: 401 })
    expect(await complaints(settings)).toEqual([
      expect.stringMatching(/^problem traces: .* does not accept them: .*401/),
    ])
    collector.answers.push({ status: 503 })
    expect(await complaints(settings)).toEqual([
      expect.stringMatching(/^warning traces: .* does not accept them: .*503/),
    ])
    expect(await complaints({ SPGW_TELEMETRY_OTLP_ENDPOINT: 'http://127.0.0.1:9' })).toEqual([
      expect.stringMatching(/^warning traces: the collector at http:\/\/127\.0\.0\.1:9/),
    ])
  })

  it('is a data directory and a key that others may read', async () => {
    chmodSync(directory, 0o755)
    chmodSync(join(directory, 'machine.key'), 0o644)
    expect(await complaints()).toEqual([
      expect.stringMatching(/^warning data directory: other users/),
      expect.stringMatching(/^problem machine key: Other users/),
    ])
  })

  it.skipIf(process.platform === 'win32')('is no directory of another user that is given to its group', () => {
    const theirs = mkdtempSync(join(tmpdir(), 'doctor-'))
    onTestFinished(() => rmSync(theirs, { recursive: true, force: true }))
    vi.spyOn(process, 'getuid').mockReturnValue(10_001)
    onTestFinished(() => void vi.restoreAllMocks())
    const access = (mode: number) => {
      chmodSync(theirs, mode)
      return checkDirectory(theirs, Date.now())[0]
    }
    // As Kubernetes makes a volume with `fsGroup`.
    expect(access(0o2775)).toMatchObject({ state: 'ok', message: expect.stringContaining('by its group') })
    expect(access(0o2755)).toMatchObject({ state: 'problem', message: expect.stringContaining('another user') })
    expect(access(0o2777)).toMatchObject({ state: 'problem' })
  })

  it.runIf(process.getuid?.() === 0)('is what another user made there (needs root)', async () => {
    chownSync(directory, 65_534, 65_534)
    expect(await complaints()).toEqual([expect.stringMatching(/^warning owner: .* belong to another user/)])
    for (const name of ['', ...readdirSync(directory, { recursive: true, encoding: 'utf8' })])
      chownSync(join(directory, name), 65_534, 65_534)
    expect(await complaints()).toEqual([])
    // A volume of its own has this of its file system.
    mkdirSync(join(directory, 'lost+found'))
    expect(await complaints()).toEqual([])
  })

  it.runIf(process.getuid?.() === 0)('is nothing where root set it up for somebody else (needs root)', async () => {
    const theirs = mkdtempSync(join(tmpdir(), 'doctor-'))
    onTestFinished(() => rmSync(theirs, { recursive: true, force: true }))
    chownSync(theirs, 65_534, 65_534)
    await initialise(loadSettings({ environment, flags: { dataDir: theirs } }), null, false)
    const found = await checkMachine({
      dataDirectory: theirs,
      file: null,
      processId: null,
      settingsFile: null,
      environment,
      now: Date.now(),
      degraded: [],
    })
    expect(found.filter(({ state }) => state !== 'ok')).toEqual([])
  })

  it('is a key that is gone, and one that is another', async () => {
    const elsewhere = join(directory, '../elsewhere.key')
    renameSync(join(directory, 'machine.key'), elsewhere)
    expect(await complaints()).toEqual([expect.stringContaining('problem machine key: There is no machine key')])
    const gone = (await examine()).find(({ check }) => check === 'machine key')
    expect(gone?.remedy).toContain('sudo SPGW_MACHINE_KEY_FILE=/etc/spgw/machine.key spgw doctor')
    expect(await complaints({ SPGW_MACHINE_KEY_FILE: elsewhere })).toEqual([])
    const other = mkdtempSync(join(tmpdir(), 'doctor-'))
    onTestFinished(() => rmSync(other, { recursive: true, force: true }))
    await initialise(loadSettings({ environment, flags: { dataDir: other } }), null, false)
    const foreign = { SPGW_SEAL_MACHINE_KEY_FILE: join(other, 'machine.key') }
    expect(await complaints(foreign)).toEqual(['problem seal: the machine key does not decrypt the stored secrets'])
  })

  it('is a database of a newer spgw, one that is damaged, one that is none, and none at all', async () => {
    change("insert into kysely_migration (name, timestamp) values ('9999-future', '')")
    expect(await complaints()).toEqual([expect.stringContaining('a newer spgw has changed it (schema 9999-future)')])
    change("delete from kysely_migration where name = '9999-future'; pragma wal_checkpoint(truncate)")
    const path = join(directory, 'spgw.db')
    truncateSync(path, 100_000)
    expect(await complaints()).toEqual([expect.stringMatching(/^problem database: /)])
    writeFileSync(path, 'this is a text, and long enough for a header'.repeat(9))
    expect(await complaints()).toEqual([expect.stringMatching(/^problem database: .*cannot be read/)])
    rmSync(path)
    expect(await complaints()).toEqual([expect.stringMatching(/^problem database: there is none/)])
  })

  it('has a remedy that fits: a backup takes away what came since', () => {
    for (const [code, words] of [
      ['SQLITE_BUSY', 'End the other program'],
      ['SQLITE_BUSY_SNAPSHOT', 'End the other program'],
      ['SQLITE_CANTOPEN', 'Let the user'],
      ['SQLITE_PERM', 'Let the user'],
      ['SQLITE_FULL', 'Free some space'],
      ['SQLITE_IOERR_SHMSIZE', 'Free some space'],
      ['SQLITE_CORRUPT', 'Restore a backup'],
      ['SQLITE_NOTADB', 'Restore a backup'],
      ['EIO', 'Restore a backup'],
    ] as const)
      expect(remedyFor(Object.assign(new Error('no'), { code })), code).toContain(words)
  })

  it('is a data directory that is not there, is a file, or is behind something closed', async () => {
    const parent = directory
    writeFileSync(join(parent, 'file'), '')
    writeFileSync(join(parent, 'settings.yaml'), 'log: { level: info }')
    symlinkSync('loop', join(parent, 'loop'))
    for (const [name, words] of [
      ['none', 'not found at'],
      ['file', 'is not a directory'],
      ['file/below', 'not found at'],
      ['loop/below', 'cannot be read: ELOOP'],
    ] as const) {
      directory = join(parent, name)
      // Its settings stand elsewhere, or it would be they that cannot be read.
      const found = await examine({}, Date.now(), join(parent, 'settings.yaml'))
      const bad = found.filter(({ state }) => state !== 'ok')
      expect(bad.map(({ check, message }) => `${check}: ${message}`)).toEqual([expect.stringContaining(words)])
    }
  })

  it('is an audit log that somebody has changed', async () => {
    change("drop trigger audit_is_never_changed; update audit set actor = 'nobody' where sequence = 1")
    expect(await complaints()).toEqual([expect.stringMatching(/^problem audit: the chain is broken at line 1: /)])
  })

  it('is a clock that went back, pieces set aside, and settings that nobody knows', async () => {
    const aside = join(directory, 'journal/set-aside')
    mkdirSync(aside)
    writeFileSync(join(aside, 'piece'), '')
    expect(await complaints({}, Date.now() - 3_600_000)).toEqual([
      expect.stringContaining('problem clock: '),
      'warning journal: 1 damaged pieces were set aside',
    ])
    writeFileSync(join(directory, 'config.yaml'), 'gateway:\n  lisen: 127.0.0.1:0\n')
    expect(await complaints()).toEqual([expect.stringContaining('did you mean gateway.listen?')])
  })

  it.runIf(process.platform === 'linux')(
    'are the variables of the gateway that runs, and none of its own',
    async () => {
      writeFileSync(join(directory, 'config.yaml'), `console:\n  metrics_token: \${DOCTOR_TOKEN}\n`)
      expect(await complaints()).toEqual([
        expect.stringMatching(/^problem settings: .*: the variable DOCTOR_TOKEN is not set in this shell$/),
      ])
      const { pid } = startProcess({ DOCTOR_TOKEN: 'a-token-of-sixteen-letters-and-more' })
      const ofGateway = (processId: number | undefined) =>
        checkMachine({
          ...{ dataDirectory: directory, file: null, environment, now: Date.now(), degraded: [] },
          processId: processId ?? null,
          settingsFile: join(directory, 'config.yaml'),
        })
      expect((await ofGateway(pid)).filter(({ state }) => state !== 'ok')).toEqual([])
      // No process has this number, as where it is another user's: what it was started with cannot be read.
      expect((await ofGateway(2 ** 30)).filter(({ state }) => state !== 'ok')).toMatchObject([
        { state: 'warning', message: expect.stringContaining('in this shell; the gateway that runs may have it') },
      ])
    },
  )

  it('are the settings of the gateway that runs, and others are said to be others', async () => {
    const [theirs, others] = [join(directory, 'their.yaml'), join(directory, 'other.yaml')]
    writeFileSync(theirs, 'log:\n  level: loud\n')
    writeFileSync(others, 'log:\n  level: warn\n')
    const ofFile = async (file: string | null) => {
      const running = { processId: process.pid, settingsFile: theirs, degraded: [] }
      const found = await checkMachine({ ...running, dataDirectory: directory, file, environment, now: Date.now() })
      return found.filter(({ check }) => check === 'settings')
    }
    expect(await ofFile(null)).toMatchObject([{ state: 'problem', message: expect.stringContaining('their.yaml:2') }])
    expect(await ofFile(others)).toMatchObject([
      {
        state: 'ok',
        message: `the settings are valid (${others}); the gateway that runs was started with ${theirs}`,
      },
    ])
    const silent = { processId: process.pid, settingsFile: undefined, degraded: [] }
    const found = await checkMachine({
      ...{ ...silent, dataDirectory: directory, file: others, environment, now: Date.now() },
    })
    expect(found.find(({ check }) => check === 'settings')?.message).toBe(`the settings are valid (${others})`)
  })

  it('is an address that somebody else has', async () => {
    const server = createServer()
    await listen(server)
    onTestFinished(() => void server.close())
    const address = server.address()
    const taken = {
      SPGW_GATEWAY_LISTEN: `127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`,
    }
    expect(await complaints(taken)).toEqual([expect.stringMatching(/^problem gateway address: .*in use/)])
  })

  it('changes nothing of it', async () => {
    const count = () =>
      new Sqlite(join(directory, 'spgw.db'), { readonly: true }).prepare('select count(*) from audit').pluck().get()
    const before = count()
    await examine()
    expect(count()).toBe(before)
  })
})
