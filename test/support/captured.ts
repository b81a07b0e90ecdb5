import { zstdCompressSync } from 'node:zlib'
import type { BodyPart } from '../../src/core/capture.ts'
import type { BodyEntry } from '../../src/core/journal-format.ts'
import { type BodyKey, sealBody } from '../../src/sealing/body-seal.ts'

/** A journaled body as the data plane writes it. */
export function bodyEntry(
  key: BodyKey,
  id: string,
  part: BodyPart,
  content: string | null,
  change: Partial<BodyEntry> = {},
  method = 'POST',
): BodyEntry {
  const head = part === 'request' ? { method, path: '/v1/chat/completions', headers: {} } : null
  const sealed = sealBody(key, id, part, zstdCompressSync(JSON.stringify({ head, content }))).toString('base64')
  const note = {
    mode: 'full' as const,
    type: 'application/json',
    bytes: content?.length ?? 0,
    truncated: false,
    masked: false,
  }
  return { kind: 'body', id, part, ...note, key: key.id, sealed, ...change }
}
