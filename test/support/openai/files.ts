import { isObject, spokenText } from '../mock-format.ts'
import type { MockObject } from '../mock-objects.ts'
import {
  created,
  type FamilyCall,
  type FamilyRow,
  type Given,
  list,
  make,
  notFound,
  on,
  Refusal,
  remove,
  show,
  withOne,
} from './family.ts'

/** Files with their bytes, uploads in parts, and batches that are done when they are looked at for the first time. */
export const files: readonly FamilyRow[] = [
  on('POST /files', createFile, 'form', 'file', 'purpose'),
  on(
    'GET /files',
    list('file', ({ purpose }, query) => [null, purpose].includes(query.get('purpose'))),
  ),
  on('GET /files/{id}', withOne('file', show)),
  on('DELETE /files/{id}', remove('file', 'file')),
  on(
    'GET /files/{id}/content',
    withOne('file', ({ id }, { account }) => account.bytes(id)),
  ),

  on('POST /uploads', createUpload, 'json', 'bytes', 'filename', 'mime_type', 'purpose'),
  on('POST /uploads/{id}/parts', withOne('upload', addPart), 'form', 'data'),
  on('POST /uploads/{id}/complete', withOne('upload', completeUpload), 'json', 'part_ids'),
  on(
    'POST /uploads/{id}/cancel',
    withOne('upload', (upload) => notPending(upload) ?? Object.assign(upload, { status: 'cancelled' })),
  ),

  on('POST /batches', createBatch, 'json', 'input_file_id', 'endpoint', 'completion_window'),
  on('GET /batches', list('batch')),
  on('GET /batches/{id}', withOne('batch', finishBatch)),
  on(
    'POST /batches/{id}/cancel',
    withOne('batch', (batch) => Object.assign(batch, { status: 'cancelling' })),
  ),
]

export function keepFile({ account, call }: FamilyCall, filename: string, purpose: string, bytes: Buffer): MockObject {
  const id = call.objects.nextId('file-')
  const file = { id, object: 'file', bytes: bytes.length, created_at: created, filename, purpose, status: 'processed' }
  return account.keep('file', file, bytes)
}

const purposes = ['assistants', 'batch', 'fine-tune', 'vision', 'user_data', 'evals']

function createFile(given: FamilyCall): Given {
  const file = given.files.find(({ name }) => name === 'file')
  const purpose = String(given.body.purpose)
  if (file === undefined) return new Refusal(400, "Missing required parameter: 'file'.", 'file')
  if (!purposes.includes(purpose)) return new Refusal(400, `'${purpose}' is not one of ${purposes}.`, 'purpose')
  return keepFile(given, file.filename, purpose, file.bytes)
}

function createUpload(given: FamilyCall): Given {
  return make('upload', 'upload_', ({ body }) => ({
    object: 'upload',
    ...body,
    created_at: created,
    status: 'pending',
  }))(given)
}

function addPart(upload: MockObject, { account, call, files }: FamilyCall): Given {
  const late = notPending(upload)
  if (late !== null) return late
  const [data] = files
  if (data === undefined) return new Refusal(400, "Missing required parameter: 'data'.", 'data')
  const id = call.objects.nextId('part_')
  const part = { id, object: 'upload.part', upload_id: upload.id, created_at: created }
  return account.keep(`${upload.id}/part`, part, data.bytes)
}

function notPending({ id, status }: MockObject): Refusal | null {
  return status === 'pending' ? null : new Refusal(400, `Upload ${id} is not pending.`)
}

function completeUpload(upload: MockObject, given: FamilyCall): Given {
  const late = notPending(upload)
  if (late !== null) return late
  const ids = Array.isArray(given.body.part_ids) ? given.body.part_ids.map(String) : []
  const parts = ids.map((id) => given.account.find(`${upload.id}/part`, id))
  if (parts.some((part) => part === null)) return new Refusal(400, 'A part is not of this upload.', 'part_ids')
  const bytes = Buffer.concat(ids.map((id) => given.account.bytes(id)))
  if (bytes.length !== Number(upload.bytes))
    return new Refusal(400, `The parts have ${bytes.length} bytes, ${upload.bytes} were announced.`)
  const file = keepFile(given, String(upload.filename), String(upload.purpose), bytes)
  return Object.assign(upload, { status: 'completed', file })
}

function createBatch({ account, call, body }: FamilyCall): Given {
  const input = account.find('file', String(body.input_file_id))
  if (input === null) return notFound('file', String(body.input_file_id))
  if (input.purpose !== 'batch') return new Refusal(400, 'The file has another purpose than batch.', 'input_file_id')
  const id = call.objects.nextId('batch_')
  const times = { created_at: created, in_progress_at: null, completed_at: null }
  const ends = { output_file_id: null, error_file_id: null, errors: null }
  return account.keep('batch', { id, object: 'batch', status: 'validating', ...body, ...times, ...ends })
}

/** One line for each line that came, answered as if by the endpoint. */
function finishBatch(batch: MockObject, given: FamilyCall): Given {
  if (batch.status !== 'validating') return batch
  const lines = given.account.bytes(String(batch.input_file_id)).toString('utf8').split('\n').filter(Boolean)
  const results = lines.map((line, index) => {
    const asked: unknown = JSON.parse(line)
    const custom_id = isObject(asked) ? asked.custom_id : null
    const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }
    const message = { role: 'assistant', content: spokenText }
    const body = { id: `chatcmpl-batch-${index}`, object: 'chat.completion', choices: [{ index: 0, message }], usage }
    return JSON.stringify({ id: `batch_req_${index}`, custom_id, response: { status_code: 200, body }, error: null })
  })
  const output = keepFile(given, 'output.jsonl', 'batch_output', Buffer.from(`${results.join('\n')}\n`))
  return Object.assign(batch, { status: 'completed', completed_at: created, output_file_id: output.id })
}
