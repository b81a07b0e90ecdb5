import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BackupHeader, formatHead, verifyBackup } from '../../../src/store/backup/backup-file.ts'
import { temporaryDirectory } from '../support.ts'

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')

function headOf(database: Buffer): BackupHeader {
  return {
    created_at: '2026-03-01T12:00:00.000Z',
    version: '1.0.0',
    schema: '0001',
    database: { bytes: database.length, sha256: sha256(database) },
    providers: 1,
    keys: 2,
    records: 3,
    credentials: 0,
    seal: null,
  }
}

const verify = (path: string) => verifyBackup(path, () => {})

/** A file with this in it. */
function file(content: Buffer | string): string {
  const path = join(temporaryDirectory(), 'spgw.backup')
  writeFileSync(path, content)
  return path
}

describe('a backup', () => {
  const database = Buffer.from('not quite a database\n, but bytes: \u00ff\u0000')
  const whole = Buffer.concat([formatHead(headOf(database)), database])

  it('is read as it was written, and how far that is can be seen', async () => {
    const path = file(whole)
    const seen: [number, number][] = []
    const backup = await verifyBackup(path, (done, total) => seen.push([done, total]))
    expect(backup).toEqual({ header: headOf(database), offset: whole.length - database.length })
    expect(seen.at(-1)).toEqual([database.length, database.length])
  })

  it('is refused wherever one byte of it is another, and wherever it ends too early', async () => {
    const path = file(whole)
    const place = fc.integer({ min: 0, max: whole.length - 1 })
    await fc.assert(
      fc.asyncProperty(place, fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const spoilt = Buffer.from(whole)
        spoilt[at] = (spoilt[at] ?? 0) ^ change
        writeFileSync(path, spoilt)
        await expect(verify(path)).rejects.toMatchObject({ name: 'BackupRefused', exitStatus: 5 })
        writeFileSync(path, whole.subarray(0, at))
        await expect(verify(path)).rejects.toMatchObject({ name: 'BackupRefused' })
      }),
      { numRuns: 60 },
    )
  })

  it('is refused where more follows than its header says', async () => {
    await expect(verify(file(Buffer.concat([whole, Buffer.from('!')])))).rejects.toThrow(
      `it has ${database.length + 1} bytes of ${database.length} after its header`,
    )
  })

  it('of a newer gateway is told from what is none', async () => {
    const newer = whole.toString('latin1').replace('spgw-backup 1 ', 'spgw-backup 2 ')
    await expect(verify(file(newer))).rejects.toThrow('was made by a newer spgw (format 2; this one reads up to 1)')
    for (const other of ['', '\n', 'SQLite format 3\0', 'x'.repeat(100_000)])
      await expect(verify(file(other))).rejects.toThrow('is not a backup of spgw.')
  })

  it('has a time in its header, and nothing that a terminal would obey', async () => {
    const head = formatHead({ ...headOf(database), created_at: '\u001b]0;x\u0007' })
    await expect(verify(file(Buffer.concat([head, database])))).rejects.toThrow('its header cannot be read')
  })

  it('is no directory', async () => {
    const directory = temporaryDirectory()
    await expect(verify(directory)).rejects.toMatchObject({
      name: 'BackupRefused',
      message: `${directory} is a directory.`,
    })
  })

  it.each(['{not json', 'null', '[]', '{"seal":null}'])(
    'whose head is %s is refused in words, though its checksum is right',
    async (head) => {
      const path = file(`spgw-backup 1 ${sha256(head)}\n${head}\nrest`)
      await expect(verify(path)).rejects.toMatchObject({
        name: 'BackupRefused',
        message: `${path} is damaged: its header cannot be read.`,
      })
    },
  )
})
