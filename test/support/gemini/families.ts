import { isObject, type JsonObject, type MockCall, spokenText } from '../mock-format.ts'
import type { MockAccount, MockObject } from '../mock-objects.ts'
import { type FamilyCall, type FamilyRow, type Given, on, Refusal } from '../openai/family.ts'
import { keepFile } from './upload.ts'

/** What the real one keeps for an account, by resource name; paths are below the version. Source: wire/lanes.md, section 3.3. */
export const families: readonly FamilyRow[] = [
  on(
    'POST /models/{model}:predict',
    ({ body }) =>
      Array.isArray(body.instances)
        ? { predictions: [{ mimeType: 'image/png', bytesBase64Encoded: 'aW1hZ2U=' }] }
        : new Refusal(400, 'instances is not specified'),
    'json',
  ),
  on('POST /models/{model}:predictLongRunning', startVideo, 'json', 'instances'),
  on('POST /models/{model}:batchGenerateContent', startBatch, 'json', 'batch'),
  on('POST /models/{model}:asyncBatchEmbedContent', startBatch, 'json', 'batch'),
  on('GET /models/{model}/operations/{id}', ({ account, ids }) =>
    finishVideo(account, `models/${ids.join('/operations/')}`),
  ),
  on('GET /operations/{id}', show('operation', 'operations')),
  on('GET /fileSearchStores/{store}/operations/{id}', ({ account, ids }) =>
    find(account, 'operation', `fileSearchStores/${ids.join('/operations/')}`),
  ),
  on('GET /fileSearchStores/{store}/upload/operations/{id}', ({ account, ids }) =>
    find(account, 'operation', `fileSearchStores/${ids.join('/upload/operations/')}`),
  ),
  on('GET /tunedModels/{model}/operations/{id}', ({ account, ids }) =>
    find(account, 'operation', `tunedModels/${ids.join('/operations/')}`),
  ),

  on('GET /batches', list('batch', 'operations')),
  on('GET /batches/{id}', finishBatch),
  on('DELETE /batches/{id}', remove('batch', 'batches')),
  on('POST /batches/{id}:cancel', (given) => (isRefusal(show('batch', 'batches')(given)) ? missing('batch') : {})),

  on('GET /files', list('file', 'files')),
  on('GET /files/{id}:download', ({ account, call, ids }) => download(account, call, `files/${ids[0]}`)),
  on('GET /files/{id}', show('file', 'files')),
  on('DELETE /files/{id}', remove('file', 'files')),

  on('POST /cachedContents', createCache, 'json', 'model'),
  on('GET /cachedContents', list('cache', 'cachedContents')),
  on('GET /cachedContents/{id}', show('cache', 'cachedContents')),
  on('PATCH /cachedContents/{id}', change('cache', 'cachedContents'), 'json'),
  on('DELETE /cachedContents/{id}', remove('cache', 'cachedContents')),

  on('POST /tunedModels', createTuned, 'json'),
  on('GET /tunedModels', list('tuned', 'tunedModels')),
  on('PATCH /tunedModels/{id}', change('tuned', 'tunedModels'), 'json'),
  on('DELETE /tunedModels/{id}', remove('tuned', 'tunedModels')),

  on('POST /fileSearchStores', createStore, 'json'),
  on('GET /fileSearchStores', list('store', 'fileSearchStores')),
  on('GET /fileSearchStores/{id}', show('store', 'fileSearchStores')),
  on('PATCH /fileSearchStores/{id}', change('store', 'fileSearchStores'), 'json'),
  on('DELETE /fileSearchStores/{id}', remove('store', 'fileSearchStores')),
  on('POST /fileSearchStores/{id}:importFile', importFile, 'json'),
  on('POST /fileSearchStores/{id}/documents', createDocument, 'json'),
  on('GET /fileSearchStores/{id}/documents', ({ account, ids }) => ({
    documents: account.all(`fileSearchStores/${ids[0]}/document`).map(bare),
  })),
  on('GET /fileSearchStores/{id}/documents/{id}', ({ account, ids }) =>
    find(account, `fileSearchStores/${ids[0]}/document`, `fileSearchStores/${ids.join('/documents/')}`),
  ),
  on(
    'PATCH /fileSearchStores/{id}/documents/{id}',
    ({ account, body, ids }) => {
      const kept = account.find(`fileSearchStores/${ids[0]}/document`, `fileSearchStores/${ids.join('/documents/')}`)
      return kept === null ? missing('document') : bare(Object.assign(kept, body))
    },
    'json',
  ),
  on('DELETE /fileSearchStores/{id}/documents/{id}', ({ account, ids }) => {
    const name = `fileSearchStores/${ids.join('/documents/')}`
    return account.drop(`fileSearchStores/${ids[0]}/document`, name) ? {} : missing('document')
  }),
  on('GET /fileSearchStores/{id}/media/{id}', ({ call, ids }) =>
    call.query.get('alt') === 'media' ? Buffer.from(`media ${ids[1]}`) : new Refusal(400, 'alt must be media'),
  ),
]

const createTime = '2026-10-01T00:00:00Z'

/** The account's own: what is told of an object is its name, never the id that it is kept under. */
function bare({ id: _, ...wire }: MockObject): JsonObject {
  return wire
}

/** A file that is not there is no other than one that is not yours. */
function missing(kind: string, id = ''): Refusal {
  const name = id.replace(/^files\//, '')
  if (kind !== 'file') return new Refusal(404, 'Requested entity was not found.')
  return new Refusal(403, `You do not have permission to access the File ${name} or it may not exist.`)
}

function isRefusal(given: Given): boolean {
  return given instanceof Refusal
}

function find(account: MockAccount, kind: string, id: string): Given {
  const object = account.find(kind, id)
  return object === null ? missing(kind, id) : bare(object)
}

function show(kind: string, collection: string): (given: FamilyCall) => Given {
  return ({ account, ids }) => find(account, kind, `${collection}/${ids[0]}`)
}

function remove(kind: string, collection: string): (given: FamilyCall) => Given {
  return ({ account, ids }) => (account.drop(kind, `${collection}/${ids[0]}`) ? {} : missing(kind, ids[0]))
}

function change(kind: string, collection: string): (given: FamilyCall) => Given {
  return ({ account, body, ids }) => {
    const object = account.find(kind, `${collection}/${ids[0]}`)
    return object === null ? missing(kind) : bare(Object.assign(object, body))
  }
}

/** `pageSize` and `pageToken`; an empty list is left out, as proto JSON does. */
function list(kind: string, array: string): (given: FamilyCall) => Given {
  return ({ account, call }) => {
    const all = account.all(kind)
    const start = Number(call.query.get('pageToken') ?? 0)
    const page = all.slice(start, start + Number(call.query.get('pageSize') ?? 10))
    const next = start + page.length
    return {
      ...(page.length === 0 ? {} : { [array]: page.map(bare) }),
      ...(next < all.length ? { nextPageToken: String(next) } : {}),
    }
  }
}

function startVideo({ account, call, ids }: FamilyCall): Given {
  const name = `models/${ids[0]}/operations/${call.objects.nextId('op')}`
  const uri = `${String(keepFile(call, account, Buffer.from('video')).uri)}:download?alt=media`
  const response = { generateVideoResponse: { generatedSamples: [{ video: { uri, encoding: 'video/mp4' } }] } }
  account.keep('operation', { id: name, name, done: true, response })
  return { name }
}

function finishVideo(account: MockAccount, name: string): Given {
  return find(account, 'operation', name)
}

function startBatch({ account, body, call, ids }: FamilyCall): Given {
  const batch = isObject(body.batch) ? body.batch : {}
  const input = batch.inputConfig ?? batch.input_config
  if (!isObject(input)) return new Refusal(400, 'batch.inputConfig is not specified')
  const name = `batches/${call.objects.nextId('b')}`
  const metadata = { model: `models/${ids[0]}`, displayName: 'batch', state: 'BATCH_STATE_PENDING', createTime, name }
  return bare(account.keep('batch', { id: name, name, metadata, done: false, input }))
}

/** Done when it is looked at. */
function finishBatch({ account, call, ids }: FamilyCall): Given {
  const batch = account.find('batch', `batches/${ids[0]}`)
  if (batch === null || !isObject(batch.metadata)) return missing('batch')
  if (batch.done === false) {
    const responsesFile = String(
      keepFile(call, account, Buffer.from(`${JSON.stringify({ key: '1', response: { usageMetadata } })}\n`)).name,
    )
    const output = isObject(batch.input) && batch.input.requests !== undefined ? inlined : { responsesFile }
    Object.assign(batch, { done: true, response: output })
    Object.assign(batch.metadata, { state: 'BATCH_STATE_SUCCEEDED', endTime: createTime, output })
  }
  return bare(batch)
}

const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 }
const inlined = {
  inlinedResponses: {
    inlinedResponses: [
      { response: { usageMetadata, candidates: [{ content: { parts: [{ text: spokenText }], role: 'model' } }] } },
    ],
  },
}

function download(account: MockAccount, call: MockCall, name: string): Given {
  if (account.find('file', name) === null) return missing('file', name)
  return call.query.get('alt') === 'media' ? account.bytes(name) : new Refusal(400, 'alt must be media')
}

function createCache({ account, body, call }: FamilyCall): Given {
  const name = `cachedContents/${call.objects.nextId('c')}`
  return bare(account.keep('cache', { id: name, name, model: body.model, createTime, updateTime: createTime }))
}

function createTuned({ account, body, call }: FamilyCall): Given {
  const name = `tunedModels/${call.objects.nextId('t')}`
  account.keep('tuned', { id: name, name, displayName: body.displayName ?? '', state: 'CREATING', createTime })
  const operation = `${name}/operations/${call.objects.nextId('op')}`
  const told = { name: operation, metadata: { tunedModel: name } }
  account.keep('operation', { id: operation, ...told })
  return told
}

function createStore({ account, body, call }: FamilyCall): Given {
  const name = `fileSearchStores/${call.objects.nextId('s')}`
  return bare(account.keep('store', { id: name, name, displayName: body.displayName ?? '', createTime }))
}

function importFile({ account, body, call, ids }: FamilyCall): Given {
  const store = `fileSearchStores/${ids[0]}`
  const file = account.find('file', String(body.fileName ?? body.file_name))
  if (account.find('store', store) === null || file === null) return missing('store')
  const { name } = keepDocument(account, call, store, file.displayName)
  const operation = `${store}/operations/${call.objects.nextId('op')}`
  account.keep('operation', {
    id: operation,
    name: operation,
    done: true,
    response: { parent: store, documentName: name },
  })
  return { name: operation }
}

function createDocument({ account, body, call, ids }: FamilyCall): Given {
  const store = `fileSearchStores/${ids[0]}`
  if (account.find('store', store) === null) return missing('store')
  return bare(keepDocument(account, call, store, body.displayName))
}

function keepDocument(account: MockAccount, call: MockCall, store: string, displayName: unknown): MockObject {
  const name = `${store}/documents/${call.objects.nextId('d')}`
  return account.keep(`${store}/document`, { id: name, name, displayName, state: 'STATE_ACTIVE', createTime })
}

/** What a body names and this account does not have, as the real one refuses it; null when all is there. */
export function refuseForeign(call: MockCall, account: MockAccount): Refusal | null {
  const text = call.body.toString()
  const all = (form: RegExp) => [...text.matchAll(form)].map(([, value = '']) => value)
  for (const uri of all(/"(?:fileUri|file_uri|uri)"\s*:\s*"([^"]*\/files\/[^"]*)"/g)) {
    const name = /files\/[^/:?#]+/.exec(uri)?.[0] ?? ''
    // The provider takes URIs of its own only.
    if (!uri.startsWith(`http://${call.headers.get('host')}/`)) return new Refusal(400, `Unsupported file URI: ${uri}`)
    if (account.find('file', name) === null) return missing('file', name)
  }
  const cache = all(/"(?:cachedContent|cached_content)"\s*:\s*"([^"]+)"/g)
  if (cache.some((name) => account.find('cache', name) === null)) return missing('cache')
  const stores = all(/"(fileSearchStores\/[^"/]+)"/g)
  return stores.some((name) => account.find('store', name) === null) ? missing('store') : null
}
