import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { countSteps } from '../../support/count-steps.ts'

// Loaded only now, so that its steps are counted.
const { SegmentReader } = await import('../../../src/store/ingest/segment-reader.ts')

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'segment-rest-'))
afterAll(() => fs.rmSync(directory, { recursive: true, force: true }))

const window = 1024

function hasRest(bytes: Buffer, offset = 0): boolean {
  const place = path.join(directory, 'segment')
  fs.writeFileSync(place, bytes)
  const file = fs.openSync(place, 'r')
  try {
    return new SegmentReader({ bytes: window, entries: 10 }).hasRest(file, offset)
  } finally {
    fs.closeSync(file)
  }
}

function zerosBut(place: number, length = 3 * window): Buffer {
  const bytes = Buffer.alloc(length)
  bytes[place] = 1
  return bytes
}

describe('what stands behind the last entry of a segment', () => {
  it('is nothing where it is zeros, or ends there', () => {
    for (const length of [0, 1, 2, window, 3 * window + 1]) expect(hasRest(Buffer.alloc(length))).toBe(false)
    expect(hasRest(zerosBut(5), 6)).toBe(false)
  })

  it('is found wherever it stands', () => {
    for (const place of [0, 1, window - 1, window, 2 * window + 7, 3 * window - 1])
      expect(hasRest(zerosBut(place))).toBe(true)
    expect(hasRest(Buffer.from([1]))).toBe(true)
    // All alike, and no zeros.
    expect(hasRest(Buffer.alloc(window, 7))).toBe(true)
  })

  it('is looked at in as many steps as there are reads, whatever their length', async () => {
    hasRest(Buffer.alloc(window))
    expect(await countSteps(() => hasRest(Buffer.alloc(window)))).toBeLessThan(50)
  })
})
