import { createHash } from 'node:crypto'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { laneNames } from '../../src/core/lane.ts'
import { type BackupHeader, formatHead } from '../../src/store/backup/backup-file.ts'
import { listAllRequests, runCommand, startGateway, type TestGateway } from '../support/gateway.ts'
import { type LaneCall, laneCalls } from '../support/lane-calls.ts'
import { send } from '../support/raw-http.ts'
import { type Stage, setStage } from '../support/stage.ts'

const clients = 6
const asked = 240

let directory: string
let stage: Stage
let recoveryKey: string
let file: string
/** Ids of answers that had come to their end before the backup was asked for. */
const before = new Set<string>()
const statuses = new Map<string, number>()

const place = (name: string) => join(directory, name)

async function ask(gateway: TestGateway, lane: LaneCall, kind: number): Promise<{ id: string; status: number }> {
  const model = kind === 2 ? 'nobody' : stage.models[lane.lane]
  const { path, body } = lane.call(model, { stream: kind === 1 })
  const headers: [string, string][] = [lane.credential(stage.key), ['content-type', 'application/json']]
  const answer = await send(gateway.baseUrl + path, { headers, body })
  return { id: answer.requestId, status: answer.status }
}

/** Calls from several clients until `until` says so; `onAnswer` after each. */
async function load(gateway: TestGateway, until: () => boolean, onAnswer: () => void): Promise<void> {
  let turn = 0
  const play = async () => {
    while (!until()) {
      const number = turn++
      const lane = laneCalls[number % laneCalls.length]
      if (lane === undefined) throw new Error('no lane')
      const { id, status } = await ask(gateway, lane, Math.floor(number / 3) % 3)
      statuses.set(id, status)
      onAnswer()
    }
  }
  await Promise.all(Array.from({ length: clients }, play))
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'backup-'))
  file = place('gateway.backup')
  const init = await runCommand(['init', '--data-dir', place('first')])
  recoveryKey = init.stdout.trim()
  stage = await setStage({ dataDirectory: place('first') })
})
afterAll(async () => {
  await stage.close()
  rmSync(directory, { recursive: true, force: true })
})

async function rotateUnderLoad(gateway: TestGateway): Promise<void> {
  let left = 3
  const rotations = (async () => {
    for (; left > 0; left--) await gateway.admin.seal.rotate({})
  })()
  const known = statuses.size
  await load(
    gateway,
    () => left === 0 && statuses.size > known + 60,
    () => {},
  )
  await rotations
  expect([...statuses.values()].filter((status) => status !== 200 && status !== 404)).toEqual([])
}

async function restore(target: string, more: string[], input = ''): Promise<Awaited<ReturnType<typeof runCommand>>> {
  return runCommand(['restore', file, '--data-dir', place(target), ...more], { input })
}

describe('a backup of a gateway under load', () => {
  it('is written whole while every request goes on being served', async () => {
    const { gateway } = stage
    let backup: ReturnType<TestGateway['spgw']> | null = null
    let done = false
    await load(
      gateway,
      () => done,
      () => {
        if (backup !== null || statuses.size < asked / 2) return
        for (const id of statuses.keys()) before.add(id)
        backup = gateway.spgw(['backup', file, '--json'])
        void backup.finally(() => {
          done = true
        })
      },
    )
    const { code, stdout, stderr } = await (backup ?? Promise.reject(new Error('no backup was asked for')))
    expect([code, stderr]).toEqual([0, ''])
    const summary = JSON.parse(stdout)
    expect(summary).toMatchObject({ file, credentials: 3, keys: 1, providers: 3, broken: [] })
    expect(summary.records).toBeGreaterThanOrEqual(before.size)
    expect(readdirSync(directory).filter((name) => name.endsWith('.part'))).toEqual([])
    expect(existsSync(join(place('first'), 'backup'))).toBe(false)
    expect(before.size).toBeGreaterThanOrEqual(asked / 2)
    expect([...statuses.values()].filter((status) => status !== 200 && status !== 404)).toEqual([])
    expect((await gateway.admin.audit.list({ operation: 'backup' })).length).toBe(1)
  })

  it('holds no credential, no key, and nothing that the machine key opens', () => {
    const bytes = readFileSync(file)
    const machineKey = readFileSync(join(place('first'), 'machine.key'), 'utf8').split(' ')
    const secrets = [stage.key, recoveryKey, ...laneNames.flatMap((lane) => [...stage.mocks[lane].credentials])]
    for (const secret of secrets) {
      for (const form of [secret, Buffer.from(secret).toString('base64'), Buffer.from(secret).toString('hex')])
        expect(bytes.includes(form)).toBe(false)
    }
    // The name of the machine key stands in every value that it has sealed.
    expect(bytes.includes(`sp1.${machineKey[1]}`)).toBe(false)
    expect(bytes.includes(machineKey[2] ?? '')).toBe(false)
    expect(bytes.includes('sp1.')).toBe(true)
  })

  it('is not written over a file that exists', async () => {
    const again = await stage.gateway.spgw(['backup', file])
    expect([again.code, again.stderr]).toEqual([5, expect.stringContaining('already exists')])
  })
})

describe('a restore', () => {
  it('refuses a wrong, a mistyped and a missing recovery key, and writes nothing', async () => {
    const other = (await runCommand(['init', '--data-dir', place('other')])).stdout
    const wrong = await restore('second', ['--recovery-key-stdin'], other)
    expect([wrong.code, wrong.stderr]).toEqual([5, expect.stringContaining('does not open this backup')])
    const mistyped = await restore(
      'second',
      ['--recovery-key-stdin'],
      recoveryKey.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    )
    expect([mistyped.code, mistyped.stderr]).toEqual([2, expect.stringContaining('mistyped')])
    const missing = await restore('second', [])
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('--recovery-key-stdin')])
    expect(existsSync(place('second'))).toBe(false)
    const occupied = await restore('first', ['--recovery-key-stdin'], recoveryKey)
    expect([occupied.code, occupied.stderr]).toEqual([5, expect.stringContaining('already holds a gateway')])
  })

  it('refuses a file that was changed anywhere, and one of a newer format', async () => {
    const bytes = readFileSync(file)
    for (const at of [20, 200, Math.floor(bytes.length / 2), bytes.length - 1]) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 1
      writeFileSync(place('changed.backup'), changed)
      const { code } = await runCommand([
        'restore',
        place('changed.backup'),
        '--data-dir',
        place('second'),
        '--without-credentials',
      ])
      expect([at, code]).toEqual([at, 5])
    }
    writeFileSync(place('changed.backup'), bytes.subarray(0, -1))
    const short = await runCommand([
      'restore',
      place('changed.backup'),
      '--data-dir',
      place('second'),
      '--without-credentials',
    ])
    expect([short.code, short.stderr]).toEqual([5, expect.stringContaining('bytes of')])
    writeFileSync(
      place('changed.backup'),
      bytes.toString('latin1').replace(/^spgw-backup 1/, 'spgw-backup 2'),
      'latin1',
    )
    const newer = await runCommand(['restore', place('changed.backup'), '--data-dir', place('second')])
    expect([newer.code, newer.stderr]).toEqual([5, expect.stringContaining('newer spgw')])
    expect(existsSync(place('second'))).toBe(false)
  })

  it('refuses a head that was changed with its checksum, unless the credentials are to be left behind', async () => {
    const forge = (change: (header: BackupHeader) => BackupHeader) => {
      const bytes = readFileSync(file)
      const first = bytes.indexOf('\n') + 1
      const second = bytes.indexOf('\n', first) + 1
      const header = change(JSON.parse(bytes.toString('utf8', first, second)))
      writeFileSync(place('forged.backup'), Buffer.concat([formatHead(header), bytes.subarray(second)]))
    }
    const run = (target: string, more: string[]) =>
      runCommand(['restore', place('forged.backup'), '--data-dir', place(target), ...more], { input: recoveryKey })

    forge((header) => ({ ...header, seal: null }))
    for (const more of [[], ['--recovery-key-stdin']]) {
      const { code, stderr } = await run('forged', more)
      expect([code, stderr]).toEqual([5, expect.stringContaining('its recovery data was removed')])
    }
    expect(existsSync(place('forged'))).toBe(false)

    forge((header) => ({ ...header, seal: null, credentials: 0 }))
    for (const more of [['--yes'], ['--recovery-key-stdin']]) {
      const { code, stderr } = await run('forged', more)
      expect([code, stderr]).toEqual([5, expect.stringContaining('its recovery data was removed')])
    }
    expect(existsSync(join(place('forged'), 'spgw.db'))).toBe(false)
    const unproved = await run('forged', ['--without-credentials'])
    expect([unproved.code, unproved.stderr]).toEqual([2, expect.stringContaining('nothing proves')])
    expect((await run('forged', ['--without-credentials', '--yes'])).code).toBe(0)

    forge((header) => {
      if (header.seal === null) throw new Error('nothing is sealed')
      return { ...header, seal: { ...header.seal, ephemeral_key: Buffer.alloc(32).toString('base64url') } }
    })
    const zero = await run('zero', ['--recovery-key-stdin'])
    expect([zero.code, zero.stderr]).toEqual([5, expect.stringContaining('was changed after it was created')])
    expect(existsSync(place('zero'))).toBe(false)
  })

  it('makes a gateway elsewhere that serves the same requests with the same key', async () => {
    const restored = await restore(
      'second',
      ['--recovery-key-stdin', '--json'],
      recoveryKey.toLowerCase().replaceAll('-', ' '),
    )
    expect([restored.code, restored.stderr]).toEqual([0, ''])
    expect(JSON.parse(restored.stdout)).toMatchObject({ credentials: 3, keys: 1, set_aside: null })
    const machineKeys = ['first', 'second'].map((name) => readFileSync(join(place(name), 'machine.key'), 'utf8'))
    expect(machineKeys[0]).not.toBe(machineKeys[1])

    const second = await startGateway({ dataDirectory: place('second') })
    try {
      for (const lane of laneCalls)
        for (const kind of [0, 1, 2]) expect((await ask(second, lane, kind)).status).toBe(kind === 2 ? 404 : 200)
      const seal = await second.admin.seal.status({})
      expect(seal).toMatchObject({ sealed: 3, broken: [] })
      expect(seal.recovery_key_id).toBe((await stage.gateway.admin.seal.status({})).recovery_key_id)

      const records = await listAllRequests(second)
      const byId = new Map(records.map((record) => [record.id, record]))
      for (const id of before) expect([id, byId.get(id)?.status]).toEqual([id, statuses.get(id)])
      expect(records.filter(({ state }) => state !== 'settled')).toEqual([])
      await rotateUnderLoad(second)
      expect((await second.admin.seal.status({})).broken).toEqual([])
    } finally {
      await second.stop()
    }
  })

  it('without its credentials says which to enter anew, and takes them', async () => {
    expect((await restore('bare', ['--without-credentials', '--yes'])).code).toBe(0)
    const bare = await startGateway({ dataDirectory: place('bare') })
    try {
      const [lane] = laneCalls
      if (lane === undefined) throw new Error('no lane')
      expect((await ask(bare, lane, 0)).status).toBe(503)
      const provider = await bare.admin.providers.show({ name: lane.lane })
      expect(provider).toMatchObject({ state: 'failing', state_reason: expect.stringContaining('enter it again') })
      const [credential = ''] = stage.mocks[lane.lane].credentials
      await bare.admin.providers.edit({ name: lane.lane, credential })
      expect((await ask(bare, lane, 0)).status).toBe(200)
    } finally {
      await bare.stop()
    }
  })

  it('proves a backup without credentials by the recovery key, and asks where nothing proves it', async () => {
    const proved = place('proved.backup')
    expect((await stage.gateway.spgw(['backup', proved, '--without-credentials'])).code).toBe(0)
    const run = (path: string, more: string[]) =>
      runCommand(['restore', path, '--data-dir', place('proved'), ...more], { input: recoveryKey })
    const bytes = readFileSync(proved)
    const [first, second] = [bytes.indexOf('\n') + 1, bytes.indexOf('\n', bytes.indexOf('\n') + 1) + 1]
    const header: BackupHeader = JSON.parse(bytes.toString('utf8', first, second))
    expect(header).toMatchObject({ credentials: 0, seal: { recovery_key_id: expect.any(String) } })
    // Somebody else's database under a head with its checksum.
    const database = Buffer.from(bytes.subarray(second))
    database.write('changed', database.length - 100)
    const sha256 = createHash('sha256').update(database).digest('hex')
    const forged = { ...header, database: { ...header.database, sha256 } }
    writeFileSync(place('unproved.backup'), Buffer.concat([formatHead(forged), database]))
    const refused = await run(place('unproved.backup'), ['--recovery-key-stdin'])
    expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining('was changed after it was created')])
    const asked = await run(proved, ['--without-credentials'])
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('--yes')])
    expect(existsSync(place('proved'))).toBe(false)
    const restored = await run(proved, ['--recovery-key-stdin', '--json'])
    expect([restored.code, restored.stderr]).toEqual([0, ''])
    expect(JSON.parse(restored.stdout)).toMatchObject({ credentials: 0, keys: 1 })
    const gateway = await startGateway({ dataDirectory: place('proved') })
    try {
      const [lane] = laneCalls
      expect(lane && (await ask(gateway, lane, 0)).status).toBe(503)
    } finally {
      await gateway.stop()
    }
  })

  it('leaves everything to the owner of the data directory, also when root restores', async () => {
    const owner = process.getuid?.() === 0 ? 12_345 : (process.getuid?.() ?? 0)
    mkdirSync(place('owned'))
    if (owner === 12_345) chownSync(place('owned'), owner, owner)
    expect((await restore('owned', ['--recovery-key-stdin'], recoveryKey)).code).toBe(0)
    const entries = readdirSync(place('owned'), { recursive: true, encoding: 'utf8' })
    expect(entries).toEqual(expect.arrayContaining(['spgw.db', 'machine.key']))
    expect(entries.filter((entry) => statSync(join(place('owned'), entry)).uid !== owner)).toEqual([])
  })

  it('with --force keeps the gateway that stood there', async () => {
    const forced = await restore('bare', ['--force', '--recovery-key-env', 'KEY', '--json'])
    expect(forced.code).toBe(2)
    const right = await restore('bare', ['--force', '--recovery-key-stdin', '--json'], recoveryKey)
    const { set_aside } = JSON.parse(right.stdout)
    expect(readdirSync(set_aside).sort()).toEqual(expect.arrayContaining(['machine.key', 'spgw.db']))
    const gateway = await startGateway({ dataDirectory: place('bare') })
    const [lane] = laneCalls
    try {
      if (lane !== undefined) expect((await ask(gateway, lane, 0)).status).toBe(200)
    } finally {
      await gateway.stop()
    }
  })
})
