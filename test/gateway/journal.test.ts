import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { entryHeaderBytes, parseSegmentName, segmentBytes } from '../../src/core/journal-format.ts'
import { Journal } from '../../src/gateway/journal.ts'

let directory: string

beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'spgw-journal-'))
})
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }))

/** Reads every entry of every segment, independently of the product's own reader. */
function entries(): unknown[] {
  const found: unknown[] = []
  for (const file of fs.readdirSync(directory).sort()) {
    const bytes = fs.readFileSync(path.join(directory, file))
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
    expect(fs.readdirSync(directory)).toEqual([])
    await first
    expect(entries()).toEqual([repeated(1), repeated(2)])
    await second
    journal.close()
    expect(parseSegmentName(fs.readdirSync(directory)[0]!)).toEqual({ boot: 'b', thread: 3, sequence: 0 })
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
    directory = blocked
    expect(entries()).toEqual([repeated(1), repeated(2)])
  })

  it('notices a directory that was deleted under it', async () => {
    const journal = new Journal({ directory, boot: 'b', thread: 0 }, () => {})
    await journal.append(repeated(1))
    fs.rmSync(directory, { recursive: true })
    journal.checkPlace()
    await journal.append(repeated(2))
    journal.close()
    expect(entries()).toEqual([repeated(2)])
  })
})
