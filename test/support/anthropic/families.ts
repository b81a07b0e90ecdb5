import { isObject, type JsonObject, type MockCall, type MockUsage, spokenText } from '../mock-format.ts'
import type { MockObject } from '../mock-objects.ts'
import { type FamilyCall, type FamilyRow, type Given, notFound, on, Refusal, show, withOne } from '../openai/family.ts'

/** What the real one keeps for an account: batches, files, skills with their versions. Source: wire/lanes.md, section 2.3. */
export const families: readonly FamilyRow[] = [
  on('POST /v1/messages/batches', createBatch, 'json', 'requests'),
  on('GET /v1/messages/batches', (given) => idPage(given, 'batch')),
  on('GET /v1/messages/batches/{id}', withOne('batch', finishBatch)),
  on(
    'POST /v1/messages/batches/{id}/cancel',
    withOne('batch', (batch) => Object.assign(batch, { processing_status: 'canceling' })),
  ),
  on('DELETE /v1/messages/batches/{id}', remove('batch', 'message_batch_deleted')),
  on('GET /v1/messages/batches/{id}/results', withOne('batch', results)),

  on('POST /v1/files', createFile, 'form'),
  on('GET /v1/files', listFiles),
  on('GET /v1/files/{id}', withOne('file', show)),
  on('DELETE /v1/files/{id}', remove('file', 'file_deleted')),
  on(
    'GET /v1/files/{id}/content',
    withOne('file', ({ id }, { account }) => account.bytes(id)),
  ),

  on('POST /v1/skills', createSkill, 'form'),
  on('GET /v1/skills', (given) => tokenPage(given, given.account.all('skill'))),
  on('GET /v1/skills/{id}', withOne('skill', show)),
  on('DELETE /v1/skills/{id}', remove('skill', 'skill_deleted')),
  on('POST /v1/skills/{id}/versions', withOne('skill', addVersion), 'form'),
  on(
    'GET /v1/skills/{id}/versions',
    withOne('skill', ({ id }, given) => tokenPage(given, given.account.all(`${id}/version`))),
  ),
  on('GET /v1/skills/{id}/versions/{id}', withOne('skill', withVersion(show))),
  on(
    'DELETE /v1/skills/{id}/versions/{id}',
    withOne(
      'skill',
      withVersion(({ id }, { account, ids }) => {
        account.drop(`${ids[0]}/version`, id)
        return { id, type: 'skill_version_deleted' }
      }),
    ),
  ),
  on(
    'GET /v1/skills/{id}/versions/{id}/content',
    withOne(
      'skill',
      withVersion(({ id }, { account }) => account.bytes(id)),
    ),
  ),
]

const createdAt = '2026-10-01T00:00:00Z'

function remove(kind: string, type: string) {
  return withOne(kind, ({ id }, { account }) => {
    account.drop(kind, id)
    return { id, type }
  })
}

/** Files that a body names and this account does not have: the real one looks them up before anything else. */
export function findMissingFile(call: MockCall, account: FamilyCall['account']): string | null {
  const named = [...call.body.toString().matchAll(/"file_id"\s*:\s*"([^"]+)"/g)].map(([, id = '']) => id)
  return named.find((id) => account.find('file', id) === null) ?? null
}

function createBatch({ account, body, call }: FamilyCall): Given {
  const requests = Array.isArray(body.requests) ? body.requests : []
  const whole = requests.every(
    (request) => isObject(request) && typeof request.custom_id === 'string' && isObject(request.params),
  )
  if (requests.length === 0 || !whole) return new Refusal(400, 'requests: at least one, each with custom_id and params')
  const counts = { processing: requests.length, succeeded: 0, errored: 0, canceled: 0, expired: 0 }
  return account.keep('batch', {
    id: call.objects.nextId('msgbatch_'),
    type: 'message_batch',
    processing_status: 'in_progress',
    request_counts: counts,
    created_at: createdAt,
    ended_at: null,
    results_url: null,
    requests,
  })
}

/** Done when it is looked at. */
function finishBatch(batch: MockObject, { call }: FamilyCall): Given {
  if (batch.processing_status !== 'in_progress') return batch
  const results_url = `http://${call.headers.get('host')}/v1/messages/batches/${batch.id}/results`
  return Object.assign(batch, { processing_status: 'ended', ended_at: createdAt, results_url })
}

function results(batch: MockObject, { usage }: FamilyCall): Given {
  if (batch.processing_status !== 'ended') return new Refusal(400, 'The batch has no results yet.')
  const requests = Array.isArray(batch.requests) ? batch.requests.filter(isObject) : []
  const lines = requests.map(({ custom_id, params }) => {
    const message = batchMessage(isObject(params) ? params : {}, usage)
    return `${JSON.stringify({ custom_id, result: { type: 'succeeded', message } })}\n`
  })
  return Buffer.from(lines.join(''))
}

function batchMessage({ model }: JsonObject, usage: MockUsage): JsonObject {
  const content = [{ type: 'text', text: spokenText }]
  const used = { input_tokens: usage.input, output_tokens: usage.output }
  return { id: 'msg_batch', type: 'message', role: 'assistant', model, content, stop_reason: 'end_turn', usage: used }
}

function createFile({ account, call, files }: FamilyCall): Given {
  const file = files.find(({ name }) => name === 'file')
  if (file === undefined) return new Refusal(400, 'file: Field required')
  const entry = {
    id: call.objects.nextId('file_'),
    type: 'file',
    filename: file.filename,
    mime_type: 'application/octet-stream',
    size_bytes: file.bytes.length,
    created_at: createdAt,
    downloadable: true,
  }
  return account.keep('file', entry, file.bytes)
}

/** The version of the API before files were out of beta paged by ids. */
function listFiles(given: FamilyCall): Given {
  const { account, call } = given
  if (call.headers.get('anthropic-beta')?.includes('files-api-2025-04-14')) return idPage(given, 'file')
  const ids = [...call.query.getAll('ids'), ...call.query.getAll('ids[]')]
  return tokenPage(
    given,
    account.all('file').filter(({ id }) => ids.length === 0 || ids.includes(id)),
  )
}

function createSkill({ account, body, call, files }: FamilyCall): Given {
  if (files.length === 0) return new Refusal(400, 'files: Field required')
  const id = call.objects.nextId('skill_')
  const version = keepVersion(id, { account, call, files })
  return account.keep('skill', {
    id,
    type: 'skill',
    display_name: body.display_name ?? body.display_title ?? 'skill',
    source: 'custom',
    latest_version: version.id,
    latest_version_id: version.id,
    created_at: createdAt,
    updated_at: createdAt,
  })
}

function addVersion({ id }: MockObject, given: FamilyCall): Given {
  return given.files.length === 0 ? new Refusal(400, 'files: Field required') : keepVersion(id, given)
}

function keepVersion(
  skill: string,
  { account, call, files }: Pick<FamilyCall, 'account' | 'call' | 'files'>,
): MockObject {
  const id = call.objects.nextId('17591780106')
  const bytes = Buffer.concat(files.map((file) => file.bytes))
  const version = { id, type: 'skill_version', skill_id: skill, version: id, name: 'skill', created_at: createdAt }
  return account.keep(`${skill}/version`, version, bytes)
}

function withVersion(then: (version: MockObject, given: FamilyCall) => Given) {
  return (skill: MockObject, given: FamilyCall): Given => {
    const id = given.ids[1] ?? ''
    const version = given.account.find(`${skill.id}/version`, id)
    return version === null ? notFound('version', id) : then(version, given)
  }
}

/** Newest first; `after_id` goes on, `before_id` goes back. */
function idPage({ account, call }: FamilyCall, kind: string): Given {
  const all = account.all(kind).toReversed()
  const limit = Number(call.query.get('limit') ?? 20)
  const place = (name: string) => all.findIndex(({ id }) => id === call.query.get(name))
  const before = call.query.has('before_id') ? place('before_id') : -1
  const start = before < 0 ? place('after_id') + 1 : Math.max(0, before - limit)
  const data = all.slice(start, before < 0 ? start + limit : before)
  const has_more = before < 0 ? start + data.length < all.length : start > 0
  return { data, has_more, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
}

function tokenPage({ call }: FamilyCall, all: readonly MockObject[]): Given {
  const limit = Number(call.query.get('limit') ?? 20)
  const token = call.query.get('page') ?? call.query.get('page_token')
  const start = token === null ? 0 : Number(token.replace(/^page_/, ''))
  if (!Number.isInteger(start)) return new Refusal(400, 'page: not a page')
  const data = all.toReversed().slice(start, start + limit)
  const next = start + data.length
  return { data, has_more: next < all.length, next_page: next < all.length ? `page_${next}` : null }
}
