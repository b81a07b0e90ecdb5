/**
 * A backup is one file: a line that names the format, a line of JSON that says what follows, then the database. The
 * header's own checksum stands at the end of the first line: `spgw-backup <format> <SHA-256 of the header, hex>`.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import * as z from 'zod/mini'

export const backupFormat = 1
const firstLine = /^spgw-backup (\d{1,9}) ([0-9a-f]{64})$/
const largestHead = 64 * 1024

const headerShape = z.object({
  // It is shown on terminals, which obey other characters.
  created_at: z.string().check(z.regex(/^[\d:.TZ-]{1,40}$/)),
  version: z.string(),
  schema: z.string(),
  database: z.object({ bytes: z.int().check(z.positive()), sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)) }),
  providers: z.number(),
  keys: z.number(),
  records: z.number(),
  credentials: z.number(),
  /** How the recovery key opens what is sealed, and the `proof`: the database's checksum, sealed by the same key. null: there was none. */
  seal: z.nullable(
    z.object({
      recovery_key_id: z.string(),
      ephemeral_key: z.string().check(z.regex(/^[\w-]{43}$/)),
      proof: z.string(),
    }),
  ),
})
export type BackupHeader = z.infer<typeof headerShape>

/** Not a backup, an incomplete one, or one of a newer spgw. `hint` says what to do. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused'
  readonly hint: string
  readonly exitStatus = 5

  constructor(message: string, hint: string) {
    super(message)
    this.hint = hint
  }
}

export interface Backup {
  header: BackupHeader
  /** Where in the file the database begins. */
  offset: number
}

export function formatHead(header: BackupHeader): Buffer {
  const json = JSON.stringify(header)
  return Buffer.from(`spgw-backup ${backupFormat} ${hashText(json)}\n${json}\n`)
}

/** Reads the head and compares every byte of the rest with it. `progress` is told how many bytes have been read. */
export async function verifyBackup(path: string, progress: (done: number, total: number) => void): Promise<Backup> {
  const backup = await readHead(path)
  const { bytes, sha256 } = backup.header.database
  const hash = createHash('sha256')
  let read = 0
  for await (const chunk of createReadStream(path, { start: backup.offset, highWaterMark: 1024 * 1024 })) {
    hash.update(chunk as Buffer)
    read += (chunk as Buffer).length
    progress(read, bytes)
  }
  if (read !== bytes) throw damaged(path, `it has ${read} bytes of ${bytes} after its header`)
  if (hash.digest('hex') !== sha256) throw damaged(path, 'its checksum is wrong')
  return backup
}

async function readHead(path: string): Promise<Backup> {
  await using file = await open(path)
  if ((await file.stat()).isDirectory())
    throw new BackupRefused(`${path} is a directory.`, 'Give a file written by spgw backup.')
  const { buffer, bytesRead } = await file.read(Buffer.alloc(largestHead), 0, largestHead, 0)
  const [first = '', json = ''] = buffer.subarray(0, bytesRead).toString('utf8').split('\n', 2)
  const [, format, sum] = firstLine.exec(first) ?? []
  if (format === undefined)
    throw new BackupRefused(`${path} is not a backup of spgw.`, 'Give a file written by spgw backup.')
  if (Number(format) > backupFormat)
    throw new BackupRefused(
      `${path} was made by a newer spgw (format ${format}; this one reads up to ${backupFormat}).`,
      'Restore it with that version of spgw or a newer one.',
    )
  const header = hashText(json) === sum ? parseHeader(json) : null
  if (header === null) throw damaged(path, 'its header cannot be read')
  return { header, offset: Buffer.byteLength(`${first}\n${json}\n`) }
}

function parseHeader(json: string): BackupHeader | null {
  const parsed = headerShape.safeParse(readJson(json))
  return parsed.success ? parsed.data : null
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function damaged(path: string, how: string): BackupRefused {
  return new BackupRefused(`${path} is damaged: ${how}.`, 'Use another copy of it, or another backup.')
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
