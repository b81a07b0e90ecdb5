import fs, { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  commitRestore,
  finishRestore,
  forgetPreparing,
  listGateway,
  makePreparing,
  preparing,
} from '../../../src/daemon/backup/finish-restore.ts'

const parent = () => {
  const directory = mkdtempSync(join(tmpdir(), 'finish-restore-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

const gatewayFiles = ['spgw.db', 'spgw.db-wal', 'spgw.db-shm', 'machine.key', 'machine.key.next', 'journal/1-0-0.seg']
const placeFiles = ['config.yaml', 'spgw.lock', 'native/addon.node', 'spgw.db.txt']

function write(directory: string, names: readonly string[], text: string): void {
  for (const name of names) {
    mkdirSync(join(directory, name, '..'), { recursive: true })
    writeFileSync(join(directory, name), `${text} ${name}`)
  }
}

/** All files below, with what is in them. */
function read(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = names.map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(paths.map((path) => [path.slice(directory.length + 1), readFileSync(path, 'utf8')]))
}

/** The process ends at the nth file that it would rename. */
function killedAt(nth: number, act: () => void): void {
  const { renameSync } = fs
  let count = 0
  fs.renameSync = (from, to) => {
    if (++count === nth) throw new Error('killed')
    renameSync(from, to)
  }
  syncBuiltinESMExports()
  try {
    act()
  } catch (error) {
    if (!(error instanceof Error && error.message === 'killed')) throw error
  } finally {
    fs.renameSync = renameSync
    syncBuiltinESMExports()
  }
}

const old = fc.subarray(gatewayFiles)
const other = fc.subarray(placeFiles)

describe('a restore', () => {
  it('is all there or has not happened, wherever it was killed, and keeps what stood there before', () => {
    const all = parent()
    let number = 0
    fc.assert(
      fc.property(old, other, fc.boolean(), fc.integer({ min: 1, max: 12 }), (gateway, beside, hasKey, nth) => {
        const directory = join(all, String(number++))
        mkdirSync(directory)
        write(directory, gateway, 'old')
        write(directory, beside, 'own')
        const before = read(directory)
        write(makePreparing(directory), ['spgw.db', ...(hasKey ? ['machine.key'] : [])], 'new')
        killedAt(nth, () => commitRestore(directory))
        const isCommitted = !existsSync(join(directory, preparing))
        // The next start goes on, and may be killed as well.
        killedAt(1, () => finishRestore(directory))
        finishRestore(directory)
        forgetPreparing(directory)
        const after = read(directory)
        if (!isCommitted) {
          expect(after).toEqual(before)
          return
        }
        const kept = Object.entries(after).flatMap(([name, text]) => {
          const aside = /^before-restore-[^/]+\/(.*)$/.exec(name)?.[1]
          return aside === undefined ? [] : [[aside, text]]
        })
        const now = Object.fromEntries(Object.entries(after).filter(([name]) => !name.startsWith('before-restore')))
        const ownKey = !hasKey && gateway.includes('machine.key')
        const gone = gateway.filter((name) => !(ownKey && name === 'machine.key'))
        expect(Object.fromEntries(kept)).toEqual(Object.fromEntries(gone.map((name) => [name, `old ${name}`])))
        expect(now).toEqual({
          ...Object.fromEntries(beside.map((name) => [name, `own ${name}`])),
          'spgw.db': 'new spgw.db',
          ...(hasKey ? { 'machine.key': 'new machine.key' } : ownKey ? { 'machine.key': 'old machine.key' } : {}),
        })
      }),
      { numRuns: 24 },
    )
  })

  it('says where the gateway before is kept, and that there was none', () => {
    const directory = parent()
    write(makePreparing(directory), ['spgw.db'], 'new')
    expect(commitRestore(directory)).toBeNull()
    write(makePreparing(directory), ['spgw.db'], 'newer')
    const aside = commitRestore(directory)
    expect(read(aside ?? '')).toEqual({ 'spgw.db': 'new spgw.db' })
    expect(read(directory)['spgw.db']).toBe('newer spgw.db')
  })

  it('begins with nothing of one that failed', () => {
    const directory = parent()
    write(makePreparing(directory), ['spgw.db', 'machine.key'], 'half')
    expect(readdirSync(makePreparing(directory))).toEqual([])
    forgetPreparing(directory)
    forgetPreparing(directory)
    expect(readdirSync(directory)).toEqual([])
  })
})

it('a gateway is its database, its keys and a journal with something in it', () => {
  const directory = parent()
  expect(listGateway(join(directory, 'none'))).toEqual([])
  write(directory, placeFiles, 'own')
  mkdirSync(join(directory, 'journal'))
  expect(listGateway(directory)).toEqual([])
  write(directory, gatewayFiles, 'old')
  expect(listGateway(directory).sort()).toEqual([
    ...['journal', 'machine.key', 'machine.key.next', 'spgw.db', 'spgw.db-shm', 'spgw.db-wal'],
  ])
})
