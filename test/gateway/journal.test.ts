import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { entryHeaderBytes, parseSegmentName, segmentBytes } from '../../src/core/journal-format.ts'
import { Journal } from '../../src/gateway/journal/journal.ts'

let directory: string

beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'spgw-journal-'))
})
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }))

/** Reads every entry of every segment, independently of the product's own reader. */
function entries(place = directory): unknown[] {
  const found: unknown[] = []
  for (const file of fs.readdirSync(place).sort()) {
    const bytes = fs.readFileSync(path.join(place, file))
    for (let at = 0; at + entryHeaderBytes <= bytes.length && bytes.readUInt32LE(at) > 0; ) {
      const payload = bytes.subarray(at + entryHeaderBytes, at + entryHeaderBytes + bytes.readUInt32LE(at))
      expect(crc32(payload)).toBe(bytes.readUInt32LE(at + 4))
      found.push(JSON.parse(payload.toString()))
      at += entryHeaderBytes + payload.length
    }
  }
  return found
}

const repeated = (count: number, filler = '') =>
  ({ kind: 'repeated', id: `req_${filler}`, count, lastTime: 'now' }) as const

describe('the journal of a thread', () => {
  it('has each entry on disk when its promise resolves, in order', async () => {
    const journal = new Journal({ directory, boot: 'b', thread: 3 }, () => {})
    const first = journal.append(repeated(1))
    const second = journal.append(repeated(2))
    await first
    expect(entries()[0]).toEqual(repeated(1))
    await second
    expect(entries()).toEqual([repeated(1), repeated(2)])
    journal.close()
    expect(parseSegmentName(fs.readdirSync(directory)[0]!)).toEqual({ boot: 'b', thread: 3, sequence: 0 })
  })

  it('writes at once while turns bring one entry each, and once a turn as soon as they bring more', async () => {
    const journal = new Journal({ directory, boot: 'b', thread: 0 }, () => {})
    const appended = (...counts: number[]) => {
      for (const count of counts) void journal.append(repeated(count))
      return entries().length
    }
    expect(appended(1)).toBe(1)
    await setImmediate()
    expect(appended(2)).toBe(2)
    expect(appended(3)).toBe(2)
    await setImmediate()
    expect(appended(4)).toBe(3)
    expect(appended(5, 6)).toBe(3)
    await setImmediate()
    expect(appended(7)).toBe(6)
    await setImmediate()
    expect(appended(8)).toBe(8)
    journal.close()
    expect(entries()).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((count) => repeated(count)))
  })

  it('goes on in a new segment when one is full, and loses nothing', async () => {
    const journal = new Journal({ directory, boot: 'b', thread: 0 }, () => {})
    const filler = 'x'.repeat(900_000)
    for (let count = 0; count < 12; count++) await journal.append(repeated(count, filler))
    journal.close()
    expect(fs.readdirSync(directory).length).toBeGreaterThan(1)
    expect(entries()).toEqual(Array.from({ length: 12 }, (_, count) => repeated(count, filler)))
    for (const file of fs.readdirSync(directory))
      expect(fs.statSync(path.join(directory, file)).size).toBe(segmentBytes)
  })

  it('says so when it cannot be written, lets traffic go on, and writes what waited once it can', async () => {
    const blocked = path.join(directory, 'place')
    fs.writeFileSync(blocked, 'a file where the directory should be')
    const reasons: (string | null)[] = []
    const well = Promise.withResolvers<void>()
    const journal = new Journal({ directory: blocked, boot: 'b', thread: 0 }, (reason) => {
      reasons.push(reason)
      if (reason === null) well.resolve()
    })
    await journal.append(repeated(1))
    await journal.append(repeated(2))
    expect(reasons[0]).toContain('journal')
    fs.rmSync(blocked)
    await well.promise
    journal.close()
    expect(entries(blocked)).toEqual([repeated(1), repeated(2)])
  })

  it.each([
    ['deleted', () => fs.rmSync(directory, { recursive: true })],
    ['moved away', () => fs.renameSync(directory, `${directory}-moved`)],
  ])('puts back what a directory held that was %s under it, and says so', async (_how, take) => {
    onTestFinished(() => fs.rmSync(`${directory}-moved`, { recursive: true, force: true }))
    const reasons: (string | null)[] = []
    const journal = new Journal({ directory, boot: 'b', thread: 0 }, (reason) => reasons.push(reason))
    const filler = 'x'.repeat(3_000_000)
    // One segment that is full, and one that is begun.
    for (const count of [1, 2]) await journal.append(repeated(count, filler))
    take()
    await journal.append(repeated(3))
    journal.checkPlace()
    expect(reasons).toEqual(['the journal directory was deleted; it was created again, with what was in it'])
    await journal.append(repeated(4))
    expect(fs.readdirSync(directory)).toHaveLength(3)
    expect(entries()).toEqual([repeated(1, filler), repeated(2, filler), repeated(3), repeated(4)])
    journal.checkPlace()
    expect(reasons).toHaveLength(1)
    journal.close()
  })

  it('puts back only what was not read', async () => {
    const journal = new Journal({ directory, boot: 'b', thread: 0 }, () => {})
    const filler = 'x'.repeat(3_000_000)
    for (const count of [1, 2]) await journal.append(repeated(count, filler))
    const [read] = fs.readdirSync(directory).sort()
    fs.truncateSync(path.join(directory, read!))
    fs.rmSync(directory, { recursive: true })
    journal.checkPlace()
    expect(entries()).toEqual([repeated(2, filler)])
    journal.close()
  })

  it('keeps what it holds until a file that took the place of its directory is gone', async () => {
    const reasons: (string | null)[] = []
    const journal = new Journal({ directory, boot: 'b', thread: 0 }, (reason) => reasons.push(reason))
    await journal.append(repeated(1))
    fs.rmSync(directory, { recursive: true })
    fs.writeFileSync(directory, 'a file')
    journal.checkPlace()
    expect(reasons).toEqual(['the journal directory is not a directory (EEXIST)'])
    await journal.append(repeated(2))
    fs.rmSync(directory)
    journal.flush()
    expect(reasons.at(-1)).toBeNull()
    expect(entries()).toEqual([repeated(1), repeated(2)])
    journal.close()
  })

  it.skipIf(process.platform !== 'linux')(
    'holds no more descriptors than a few, however far behind the reading is',
    async () => {
      const journal = new Journal({ directory, boot: 'b', thread: 0 }, () => {})
      const filler = 'x'.repeat(4_100_000)
      const before = fs.readdirSync('/proc/self/fd').length
      for (let count = 0; count < 20; count++) await journal.append(repeated(count, filler))
      expect(fs.readdirSync('/proc/self/fd').length - before).toBeLessThanOrEqual(17)
      journal.close()
      expect(fs.readdirSync('/proc/self/fd').length).toBe(before)
    },
  )

  it('reports at the end what the disk never took', async () => {
    const blocked = path.join(directory, 'place')
    fs.writeFileSync(blocked, 'a file where the directory should be')
    const lost: number[] = []
    const journal = new Journal({ directory: blocked, boot: 'b', thread: 0 }, (_reason, entries) => lost.push(entries))
    await journal.append(repeated(1))
    await journal.append(repeated(2))
    journal.close()
    expect(lost.at(-1)).toBe(2)
  })
})
