import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'
import type { CapturedBody, MissingBodies } from '../../../core/capture.ts'
import type { RequestRecord } from '../../../core/record.ts'
import { bodyKeyIdentity, openBody } from '../../../sealing/body-seal.ts'
import type { StoredBody } from '../../../store/api.ts'
import type { Bodies } from '../../contract/requests/bodies.ts'
import { audited } from '../audited.ts'
import type { AdminContext } from '../context.ts'
import { refused } from '../fault.ts'
import { isAble, scopeOf } from '../scope.ts'
import { isRecordSeen } from '../scoped-runtime.ts'

const decompress = promisify(zstdDecompress)
/** A body of a MiB as JSON, with every character escaped, and its head. */
const largestClear = 8 * 1024 * 1024

export interface OpenedBodies {
  /** null: there is nothing to read. */
  bodies: Bodies | null
  missing: MissingBodies | null
  /** As found bodies say it. */
  keptMs?: number | null
}

/** Of whoever sees records, only admins see what was said in them. Each reading leaves a line. */
export async function readBodies(context: AdminContext, record: RequestRecord): Promise<OpenedBodies> {
  await requireAdmin(context, record)
  const opened = await openBodies(context, record.id)
  if (opened.bodies === null) return opened
  const resource = { kind: 'request', id: record.id, name: record.id }
  const after = { bodies: opened.bodies.capture, project: record.project }
  await audited(context, { operation: 'requests.show', resource, before: null, after }).audit.note()
  return opened
}

export async function requireAdmin({ caller, store }: AdminContext, record: RequestRecord): Promise<void> {
  const scope = scopeOf(caller, 'requests.show --bodies', { role: 'admin', reach: 'project' })
  if (scope.able === null) return
  const names = await store.projects.names()
  const able = names.filter(({ projectId }) => projectId !== null && isAble(scope, projectId))
  if (!isRecordSeen(record, able)) throw scope.refuse()
}

/** What was kept of a request, in clear. Whoever calls this has seen to it that the caller may read it. */
export async function openBodies(context: AdminContext, id: string): Promise<OpenedBodies> {
  const { bodies: stored, missing, keptMs } = await context.store.bodies.find(id)
  const [first] = stored
  if (first === undefined) return { bodies: null, missing }
  const bodies: Bodies = { capture: first.mode, request: null, answer: null }
  for (const body of stored) {
    const { head, content } = await openStored(context, id, body)
    const { type, bytes, truncated, masked } = body
    const shown = { type, bytes, truncated, masked, content }
    if (body.part === 'answer') bodies.answer = shown
    else if (head !== null) bodies.request = { ...shown, ...head }
  }
  return { bodies, missing: null, ...(keptMs != null && { keptMs }) }
}

async function openStored(context: AdminContext, id: string, body: StoredBody): Promise<CapturedBody> {
  const key = await openKey(context, body.keyId)
  const frame = key === null ? null : openBody({ id: body.keyId, key }, id, body.part, body.sealed)
  if (frame === null)
    throw refused(
      `The bodies of ${id} cannot be decrypted: they were changed, or the key that sealed them is missing.`,
      'A restore without the machine key or the recovery key does not bring it back; records.bodies_retention removes such bodies.',
    )
  const clear = await decompress(frame, { maxOutputLength: largestClear })
  // Nobody but the data plane can have sealed it.
  return JSON.parse(clear.toString('utf8')) as CapturedBody
}

async function openKey({ store, keyring }: AdminContext, keyId: string): Promise<Uint8Array | null> {
  const sealed = await store.bodies.key(keyId)
  if (sealed === null) return null
  return new Uint8Array(Buffer.from(keyring.open(sealed, bodyKeyIdentity(keyId)).reveal(), 'base64'))
}
