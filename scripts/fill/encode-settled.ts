import { crc32 } from 'node:zlib'
import { entryHeaderBytes, type JournalEntry } from '../../src/core/journal-format.ts'
import type { RequestRecord } from '../../src/core/record.ts'

/** The entry of a settled record, as the gateway writes it into the journal. */
export function encodeSettled(record: RequestRecord): Buffer {
  const entry: JournalEntry = { kind: 'settled', record }
  const payload = Buffer.from(JSON.stringify(entry))
  const bytes = Buffer.allocUnsafe(entryHeaderBytes + payload.length)
  bytes.writeUInt32LE(payload.length, 0)
  bytes.writeUInt32LE(crc32(payload), 4)
  payload.copy(bytes, entryHeaderBytes)
  return bytes
}
