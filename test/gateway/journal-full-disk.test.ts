import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { segmentBytes } from '../../src/core/journal-format.ts'
import { reserveFile } from '../../src/core/reserve.ts'
import { Journal } from '../../src/gateway/journal/journal.ts'

let directory: string

beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'spgw-journal-'))
})
afterEach(() => {
  vi.restoreAllMocks()
  fs.rmSync(directory, { recursive: true, force: true })
})

const entry = { kind: 'repeated', id: 'req_1', count: 1, lastTime: 'now' } as const

describe('the journal on a full disk', () => {
  it('leaves neither descriptors nor half-made segments behind, however often it tries', async () => {
    const opened: number[] = []
    const closed: number[] = []
    const { openSync, closeSync } = fs
    vi.spyOn(fs, 'openSync').mockImplementation((...given) => {
      const file = openSync(...given)
      opened.push(file)
      return file
    })
    vi.spyOn(fs, 'closeSync').mockImplementation((file) => {
      closed.push(file)
      closeSync(file)
    })
    const write = vi.spyOn(fs, 'writeSync').mockImplementation(() => {
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    })
    const reasons: (string | null)[] = []
    const journal = new Journal({ directory, boot: 'b', thread: 0 }, (reason) => reasons.push(reason))
    await journal.append(entry)
    for (let time = 0; time < 10; time++) journal.flush()
    expect(reasons).toEqual(['the disk is full (ENOSPC)'])
    expect(opened.length).toBe(11)
    expect(closed).toEqual(opened)
    expect(fs.readdirSync(directory)).toEqual([])

    write.mockRestore()
    journal.flush()
    expect(reasons.at(-1)).toBeNull()
    journal.close()
    expect(fs.readdirSync(directory).map((file) => fs.statSync(path.join(directory, file)).size)).toEqual([
      segmentBytes,
    ])
  })

  it('writes what waits when the thread ends into what room there is, and into the reserve', async () => {
    const reserve = path.join(directory, reserveFile)
    fs.writeFileSync(reserve, Buffer.alloc(4))
    const place = path.join(directory, 'journal')
    const { writeSync } = fs
    const write = (limit: () => number) =>
      vi
        .spyOn(fs, 'writeSync')
        .mockImplementation((file: number, bytes: unknown, offset?: unknown, length?: unknown, position?: unknown) => {
          if (Number(position) + Number(length) > limit())
            throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
          return writeSync(file, bytes as Buffer, offset as number, length as number, position as number)
        })
    const lost: number[] = []
    // Without the reserve there is no room at all, with it for a little.
    write(() => (fs.existsSync(reserve) ? 0 : 10_000))
    const journal = new Journal({ directory: place, boot: 'b', thread: 0 }, (_, count) => lost.push(count))
    for (let count = 0; count < 20; count++) await journal.append(entry)
    journal.close()
    expect([lost.at(-1), fs.existsSync(reserve)]).toEqual([0, false])
    const [file] = fs.readdirSync(place)
    expect(fs.readFileSync(path.join(place, file ?? ''), 'utf8').match(/req_1/g)).toHaveLength(20)
  })

  it('ends also where the reserve may not be touched, and counts what is lost', async () => {
    const refuse = (code: string) => () => {
      throw Object.assign(new Error('refused'), { code })
    }
    vi.spyOn(fs, 'writeSync').mockImplementation(refuse('ENOSPC'))
    const lost: number[] = []
    const journal = new Journal({ directory, boot: 'b', thread: 0 }, (_, count) => lost.push(count))
    await journal.append(entry)
    vi.spyOn(fs, 'rmSync').mockImplementation(refuse('EROFS'))
    expect(() => journal.close()).not.toThrow()
    expect(lost.at(-1)).toBe(1)
  })

  it('takes all of a segment, also when the system writes it in pieces', async () => {
    const { writeSync } = fs
    vi.spyOn(fs, 'writeSync').mockImplementation(
      (file: number, bytes: unknown, offset?: unknown, length?: unknown, position?: unknown) =>
        writeSync(file, bytes as Buffer, offset as number, Math.min(length as number, 1_000_000), position as number),
    )
    const journal = new Journal({ directory, boot: 'b', thread: 0 }, () => {})
    await journal.append(entry)
    journal.close()
    expect(fs.readdirSync(directory).map((file) => fs.statSync(path.join(directory, file)).size)).toEqual([
      segmentBytes,
    ])
  })

  it('goes on where its place cannot be looked at', async () => {
    const journal = new Journal({ directory, boot: 'b', thread: 0 }, () => {})
    await journal.append(entry)
    vi.spyOn(fs, 'statSync').mockImplementation(() => {
      throw Object.assign(new Error('permission denied'), { code: 'EACCES' })
    })
    expect(() => journal.checkPlace()).not.toThrow()
    journal.close()
  })
})
