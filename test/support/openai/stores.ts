import { spokenText } from '../mock-format.ts'
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
  page,
  Refusal,
  remove,
  show,
  update,
  withInner,
  withOne,
} from './family.ts'

/** Vector stores, containers and skills. */
export const stores: readonly FamilyRow[] = [
  on('POST /vector_stores', createStore, 'json'),
  on('GET /vector_stores', list('vector_store')),
  on('GET /vector_stores/{id}', withOne('vector_store', show)),
  on('POST /vector_stores/{id}', update('vector_store'), 'json'),
  on('DELETE /vector_stores/{id}', remove('vector_store')),
  on('POST /vector_stores/{id}/search', withOne('vector_store', search), 'json', 'query'),
  on('POST /vector_stores/{id}/files', withOne('vector_store', attach), 'json', 'file_id'),
  on('GET /vector_stores/{id}/files', withOne('vector_store', listFiles)),
  on('GET /vector_stores/{id}/files/{file}', withInner('vector_store', 'file', show)),
  on('POST /vector_stores/{id}/files/{file}', withInner('vector_store', 'file', change), 'json', 'attributes'),
  on('DELETE /vector_stores/{id}/files/{file}', withInner('vector_store', 'file', detach)),
  on('GET /vector_stores/{id}/files/{file}/content', withInner('vector_store', 'file', showContent)),
  on('POST /vector_stores/{id}/file_batches', withOne('vector_store', attachAll), 'json'),
  on('GET /vector_stores/{id}/file_batches/{batch}', withInner('vector_store', 'batch', show)),
  on('POST /vector_stores/{id}/file_batches/{batch}/cancel', withInner('vector_store', 'batch', show)),
  on(
    'GET /vector_stores/{id}/file_batches/{batch}/files',
    withInner('vector_store', 'batch', (_batch, given, store) => listFiles(store, given)),
  ),

  on('POST /containers', createContainer, 'json', 'name'),
  on('GET /containers', list('container')),
  on('GET /containers/{id}', withOne('container', show)),
  on('DELETE /containers/{id}', remove('container')),
  on('POST /containers/{id}/files', withOne('container', addFile), 'either'),
  on(
    'GET /containers/{id}/files',
    withOne('container', ({ id }, { account, call }) => page(account.all(`${id}/file`), call.query)),
  ),
  on('GET /containers/{id}/files/{file}', withInner('container', 'file', show)),
  on(
    'DELETE /containers/{id}/files/{file}',
    withInner('container', 'file', (file, { account }, { id }) => {
      account.drop(`${id}/file`, file.id)
      return { id: file.id, object: 'container.file.deleted', deleted: true }
    }),
  ),
  on(
    'GET /containers/{id}/files/{file}/content',
    withInner('container', 'file', ({ id }, { account }) => account.bytes(id)),
  ),

  on('POST /skills', createSkill, 'form', 'files'),
  on('GET /skills', list('skill')),
  on('GET /skills/{id}', withOne('skill', show)),
  on('POST /skills/{id}', update('skill'), 'json', 'default_version'),
  on('DELETE /skills/{id}', remove('skill')),
  on(
    'GET /skills/{id}/content',
    withOne('skill', ({ id }, { account }) => account.bytes(`${id}/1`)),
  ),
  on('POST /skills/{id}/versions', withOne('skill', addVersion), 'form', 'files'),
  on(
    'GET /skills/{id}/versions',
    withOne('skill', ({ id }, { account, call }) => page(account.all(`${id}/version`), call.query)),
  ),
  on('GET /skills/{id}/versions/{version}', withOne('skill', showVersion)),
  on('DELETE /skills/{id}/versions/{version}', withOne('skill', removeVersion)),
  on(
    'GET /skills/{id}/versions/{version}/content',
    withOne('skill', ({ id }, { account, ids }) => account.bytes(`${id}/${ids[1]}`)),
  ),
]

function createStore(given: FamilyCall): Given {
  const { account, body } = given
  const ids = textList(body.file_ids)
  for (const id of ids) if (account.find('file', id) === null) return notFound('file', id)
  const counts = { in_progress: 0, completed: ids.length, failed: 0, cancelled: 0, total: ids.length }
  const { name = null, metadata = {} } = body
  const about = { object: 'vector_store', created_at: created, name, metadata, usage_bytes: 0, status: 'completed' }
  const store = make('vector_store', 'vs_', () => ({ ...about, file_counts: counts }))(given) as MockObject
  for (const id of ids) keepIn(store, id, given)
  return store
}

function textList(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : []
}

function keepIn({ id }: MockObject, file: string, { account }: FamilyCall): MockObject {
  const object = 'vector_store.file'
  return account.keep(`${id}/file`, {
    id: file,
    object,
    created_at: created,
    vector_store_id: id,
    status: 'completed',
    last_error: null,
    usage_bytes: 1,
  })
}

function attach(store: MockObject, given: FamilyCall): Given {
  const id = String(given.body.file_id)
  return given.account.find('file', id) === null ? notFound('file', id) : keepIn(store, id, given)
}

function attachAll(store: MockObject, given: FamilyCall): Given {
  const more = Array.isArray(given.body.files)
    ? given.body.files.map((file: { file_id?: unknown }) => String(file.file_id))
    : []
  const ids = [...textList(given.body.file_ids), ...more]
  for (const id of ids) if (given.account.find('file', id) === null) return notFound('file', id)
  for (const id of ids) keepIn(store, id, given)
  const counts = { in_progress: 0, completed: ids.length, failed: 0, cancelled: 0, total: ids.length }
  const id = given.call.objects.nextId('vsfb_')
  const batch = { id, object: 'vector_store.files_batch', created_at: created, vector_store_id: store.id }
  return given.account.keep(`${store.id}/batch`, { ...batch, status: 'completed', file_counts: counts })
}

function listFiles({ id }: MockObject, { account, call }: FamilyCall): Given {
  return page(account.all(`${id}/file`), call.query)
}

function change(file: MockObject, { body }: FamilyCall): Given {
  return Object.assign(file, { attributes: body.attributes })
}

function detach(file: MockObject, { account }: FamilyCall, store: MockObject): Given {
  account.drop(`${store.id}/file`, file.id)
  return { id: file.id, object: 'vector_store.file.deleted', deleted: true }
}

function showContent({ id }: MockObject, { account }: FamilyCall): Given {
  const data = [{ type: 'text', text: account.bytes(id).toString('utf8') }]
  return { object: 'vector_store.file_content.page', data, has_more: false, next_page: null }
}

function search(store: MockObject, { account, body }: FamilyCall): Given {
  const data = account.all(`${store.id}/file`).map(({ id }) => ({
    file_id: id,
    filename: String(account.find('file', id)?.filename),
    score: 0.9,
    attributes: {},
    content: [{ type: 'text', text: spokenText }],
  }))
  return {
    object: 'vector_store.search_results.page',
    search_query: [body.query],
    data,
    has_more: false,
    next_page: null,
  }
}

function createContainer(given: FamilyCall): Given {
  for (const id of textList(given.body.file_ids))
    if (given.account.find('file', id) === null) return notFound('file', id)
  return make('container', 'cntr_', ({ body }) => ({
    object: 'container',
    created_at: created,
    name: body.name,
    status: 'running',
    expires_after: { anchor: 'last_active_at', minutes: 20 },
  }))(given)
}

function addFile(container: MockObject, { account, call, body, files }: FamilyCall): Given {
  const known = body.file_id === undefined ? null : account.find('file', String(body.file_id))
  if (body.file_id !== undefined && known === null) return notFound('file', String(body.file_id))
  const bytes = known === null ? files[0]?.bytes : account.bytes(known.id)
  if (bytes === undefined) return new Refusal(400, "Missing required parameter: 'file'.", 'file')
  const id = call.objects.nextId('cfile_')
  const path = `/mnt/data/${files[0]?.filename ?? String(known?.filename)}`
  const file = { id, object: 'container.file', created_at: created, bytes: bytes.length, container_id: container.id }
  return account.keep(`${container.id}/file`, { ...file, path, source: 'user' }, bytes)
}

function createSkill(given: FamilyCall): Given {
  const skill = make('skill', 'skill_', () => ({
    object: 'skill',
    created_at: created,
    name: 'mock-skill',
    description: 'A skill of the mock.',
    default_version: '1',
    latest_version: '0',
  }))(given) as MockObject
  addVersion(skill, given)
  return skill
}

function addVersion(skill: MockObject, given: FamilyCall): Given {
  const version = String(Number(skill.latest_version) + 1)
  Object.assign(skill, { latest_version: version })
  const id = `${skill.id}/${version}`
  const about = { object: 'skill.version', created_at: created, name: skill.name, description: skill.description }
  // Kept under what its bytes are found by, shown with an id of its own.
  given.account.keep('skill_bytes', { id }, given.files[0]?.bytes ?? Buffer.alloc(0))
  return given.account.keep(`${skill.id}/version`, { id: `skillver_${version}`, ...about, skill_id: skill.id, version })
}

function showVersion(skill: MockObject, { account, ids }: FamilyCall): Given {
  const found = account.all(`${skill.id}/version`).find(({ version }) => version === ids[1])
  return found ?? notFound('skill', `${skill.id}/${ids[1]}`)
}

function removeVersion(skill: MockObject, { account, ids }: FamilyCall): Given {
  account.drop(`${skill.id}/version`, `skillver_${ids[1]}`)
  return { id: skill.id, object: 'skill.version.deleted', deleted: true, version: ids[1] }
}
