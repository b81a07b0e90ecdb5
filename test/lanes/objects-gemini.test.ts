import { describe, expect, it } from 'vitest'
import type { Inspection, Match } from '../../src/lanes/contract.ts'
import { gemini } from '../../src/lanes/gemini/lane.ts'
import { isFault } from '../../src/lanes/request-body.ts'

const { objects } = gemini
const urls = {
  lane: 'http://127.0.0.1:8787/v1/gemini',
  provider: 'https://generativelanguage.googleapis.com',
}

function match(call: string): Match {
  const [method = '', path = ''] = call.split(' ')
  const found = gemini.match(method, path)
  if (found === null) throw new Error(call)
  return found
}

function inspect(call: string, body: unknown = {}, query = ''): Inspection {
  const found = match(call).endpoint.inspect(match(call), query, Buffer.from(JSON.stringify(body)))
  if (isFault(found)) throw new Error(found.message)
  return found
}

const generate = 'POST /v1beta/models/g:generateContent'
const interact = 'POST /v1beta/interactions'

describe('names', () => {
  it.each([
    ['GET /v1beta/files/a', 'files/a'],
    ['DELETE /v1/cachedContents/a', 'cachedContents/a'],
    ['POST /v1beta/batches/a:cancel', 'batches/a'],
    ['POST /v1beta/batches/a%3Acancel', 'batches/a'],
    ['GET /v1beta/fileSearchStores/s/documents/d', 'fileSearchStores/s'],
    ['POST /upload/v1beta/fileSearchStores/s:uploadToFileSearchStore', 'fileSearchStores/s'],
    ['GET /v1beta/operations/o', 'operations/o'],
    ['GET /v1beta/models/veo-3.0/operations/o', 'models/veo-3.0/operations/o'],
    ['GET /v1beta/fileSearchStores/s/upload/operations/o', 'fileSearchStores/s/upload/operations/o'],
    ['GET /download/v1beta/files/a:download', 'files/a'],
    ['GET /v1beta/files/http://127.0.0.1:1/v1/gemini/v1beta/files/a:download', 'files/a'],
    // The other family's ids are no resource names.
    ['GET /v1beta/interactions/i', 'i'],
    ['POST /v1beta/interactions/i/cancel', 'i'],
  ])('%s is about %s', (call, name) => {
    expect(match(call).object).toBe(name)
  })
})

describe('references', () => {
  const named = (call: string, body: unknown) => {
    const found = match(call).endpoint.references('', Buffer.from(JSON.stringify(body)))
    return 'code' in found ? [found.code] : found.map(({ type, id }) => `${type} ${id}`).sort()
  }
  const part = (more: object) => ({ contents: [{ parts: [more] }] })
  const google = 'https://generativelanguage.googleapis.com'

  it.each([
    ['a cache', generate, { cachedContent: 'cachedContents/c' }, ['cached_content cachedContents/c']],
    ['a cache, spelled otherwise', generate, { cached_content: 'c' }, ['cached_content cachedContents/c']],
    [
      'a file of the provider’s',
      generate,
      part({ fileData: { fileUri: `${google}/v1beta/files/f` } }),
      ['file files/f'],
    ],
    ['one of this gateway’s', generate, part({ file_data: { file_uri: `${urls.lane}/v1/files/f` } }), ['file files/f']],
    ['one by its name', generate, part({ fileData: { fileUri: 'files/f' } }), ['file files/f']],
    ['a page of the web', generate, part({ fileData: { fileUri: 'https://a.example/files/f' } }), []],
    ['a video elsewhere', generate, part({ fileData: { fileUri: 'https://youtu.be/x' } }), []],
    ['a function’s own fields', generate, part({ functionCall: { args: { fileUri: 'files/f' } } }), []],
    [
      'a file that a function gave back',
      generate,
      part({ functionResponse: { response: { fileUri: 'files/x' }, parts: [{ fileData: { fileUri: 'files/f' } }] } }),
      ['file files/f'],
    ],
    [
      'stores to search in',
      generate,
      { tools: [{ fileSearch: { fileSearchStoreNames: ['fileSearchStores/s', 't'] } }] },
      ['file_search_store fileSearchStores/s', 'file_search_store fileSearchStores/t'],
    ],
    [
      'a batch’s file',
      'POST /v1beta/models/g:batchGenerateContent',
      { batch: { inputConfig: { fileName: 'files/f' } } },
      ['file files/f'],
    ],
    [
      'the requests of a batch',
      'POST /v1beta/models/g:batchGenerateContent',
      {
        batch: { input_config: { requests: { requests: [{ request: part({ fileData: { fileUri: 'files/f' } }) }] } } },
      },
      ['file files/f'],
    ],
    ['the file to import', 'POST /v1beta/fileSearchStores/s:importFile', { file_name: 'files/f' }, ['file files/f']],
    [
      'what an interaction goes on from',
      interact,
      {
        previous_interaction_id: 'i',
        environment: 'env_1',
        input: [{ type: 'document', uri: `${google}/v1/files/f` }],
      },
      ['environment env_1', 'file files/f', 'interaction i'],
    ],
    [
      'stores of an interaction',
      interact,
      { tools: [{ type: 'file_search', file_search_store_names: ['fileSearchStores/s'] }] },
      ['file_search_store fileSearchStores/s'],
    ],
    ['a sandbox as an object', interact, { environment: { environment_id: 'env_1' } }, ['environment env_1']],
    [
      'the video that another goes on from',
      'POST /v1beta/models/veo:predictLongRunning',
      { instances: [{ video: { uri: `${urls.lane}/v1beta/files/f:download?alt=media` } }] },
      ['file files/f'],
    ],
    ['none', generate, part({ text: 'files/f cachedContents/c' }), []],
  ])('%s', (_what, call, body, expected) => {
    expect(named(call, body)).toEqual(expected)
  })
})

describe('told', () => {
  const told = (call: string, answer: unknown, inspection = inspect(call)) =>
    match(call)
      .endpoint.createdObjects(match(call), inspection, answer)
      .map(({ type, id }) => `${type} ${id}`)
  const video = { video: { uri: 'https://generativelanguage.googleapis.com/v1beta/files/v:download?alt=media' } }

  it.each([
    ['POST /upload/v1beta/files', { file: { name: 'files/f' } }, ['file files/f']],
    ['POST /upload/v1beta/files', {}, []],
    [
      'POST /v1beta/cachedContents',
      { name: 'cachedContents/c', model: 'models/g' },
      ['cached_content cachedContents/c'],
    ],
    ['POST /v1beta/models/g:batchGenerateContent', { name: 'batches/b' }, ['batch batches/b']],
    [
      'GET /v1beta/batches/b',
      { name: 'batches/b', metadata: { output: { responsesFile: 'files/r' } } },
      ['batch batches/b', 'file files/r'],
    ],
    [
      'POST /v1beta/models/g:predictLongRunning',
      { name: 'models/g/operations/o' },
      ['operation models/g/operations/o'],
    ],
    [
      'GET /v1beta/models/g/operations/o',
      { name: 'models/g/operations/o', response: { generateVideoResponse: { generatedSamples: [video] } } },
      ['file files/v', 'operation models/g/operations/o'],
    ],
    [
      'POST /v1beta/fileSearchStores/s:importFile',
      { name: 'fileSearchStores/s/operations/o' },
      ['operation fileSearchStores/s/operations/o'],
    ],
    ['POST /v1beta/fileSearchStores', { name: 'fileSearchStores/s' }, ['file_search_store fileSearchStores/s']],
    [interact, { id: 'i', environment_id: 'env_1' }, ['environment env_1', 'interaction i']],
    // What was found on the way is somebody else's, whatever it calls itself.
    [interact, { id: 'i', steps: [{ annotations: [{ uri: 'https://a.example/v1/files/x' }] }] }, ['interaction i']],
    ['GET /v1beta/files', { files: [{ name: 'files/f' }] }, []],
    [
      'GET /v1beta/batches',
      { operations: [{ name: 'batches/b', response: { responsesFile: 'files/r' } }] },
      ['file files/r'],
    ],
  ])('%s: %j', (call, answer, expected) => {
    const body = call === interact ? { model: 'g' } : call.includes('cachedContents') ? { model: 'models/g' } : {}
    expect(told(call, answer, inspect(call, body)).sort()).toEqual(expected)
  })

  it.each(['constructor/x', '__proto__/x', 'toString/x'])('nothing of %s, which is in no collection', (name) => {
    const call = 'POST /v1beta/models/g:batchGenerateContent'
    expect(match(call).endpoint.createdObjects(match(call), inspect(call), { name })).toEqual([])
  })

  it('keeps no interaction that is not to be stored', () => {
    expect(told(interact, { id: 'i' }, inspect(interact, { model: 'g', store: false }))).toEqual([])
  })
})

describe('lists', () => {
  const listing = match('GET /v1beta/files')
  const body = Buffer.from('{"files": [{"name": "files/a"}, {"name":"files/b","n":1.0}], "nextPageToken": "p 2"}')

  it('keeps items byte for byte, and the token as long as there is more', () => {
    const page = objects.page(listing, body)!
    expect(page).toMatchObject({ more: true, token: 'p 2' })
    expect(objects.writePage(listing, body, page, [0, 1], true)).toBe(body)
    expect(objects.writePage(listing, body, page, [1], false).toString()).toBe(
      '{"files": [{"name":"files/b","n":1.0}], "nextPageToken": ""}',
    )
    expect(objects.nextPage('?page_token=p1&pageSize=2', page)).toBe('?pageSize=2&pageToken=p%202')
  })

  it('of which nothing is the caller’s looks like that of an account without any', () => {
    expect(objects.writePage(listing, body, objects.page(listing, body)!, [], false).toString()).toBe('{}')
  })

  it('is empty where the provider leaves the list out', () => {
    const page = objects.page(listing, Buffer.from('{}'))!
    expect(page).toEqual({ items: [], more: false, token: null })
    expect(objects.nextPage('', page)).toBeNull()
  })

  it.each([
    ['GET /v1beta/batches', 'operations', 'batch'],
    ['GET /v1beta/cachedContents', 'cachedContents', 'cached_content'],
    ['GET /v1beta/fileSearchStores', 'fileSearchStores', 'file_search_store'],
    ['GET /v1beta/tunedModels', 'tunedModels', 'tuned_model'],
  ])('%s is of %s', (call, array, type) => {
    const page = objects.page(match(call), Buffer.from(JSON.stringify({ [array]: [{ name: 'n/1' }] })))
    expect(page?.items.map(({ name }) => name)).toEqual([{ type, id: 'n/1' }])
  })

  it('leaves the list of a store’s documents alone', () => {
    expect(objects.page(match('GET /v1beta/fileSearchStores/s/documents'), Buffer.from('{"documents":[]}'))).toBeNull()
  })
})

describe('URIs that are not exactly a file’s', () => {
  const google = 'https://generativelanguage.googleapis.com'
  it.each([
    'aaa',
    'Files/aaa',
    ' files/aaa',
    'files//aaa',
    '/files/aaa',
    'files/own/../aaa',
    'files/%61aa',
    'v1beta/files/aaa',
    `${google}/v1beta/files/own/../aaa`,
    `${google}/v1beta/files//aaa`,
    `${google}/v1beta/files%252Faaa`,
    `${google}/v1beta/Files/aaa`,
    `${google}/files/aaa`,
    `${google}//v1main/%66iles/f`,
    `${google}./v1beta/files/aaa`,
    `${google} /v1beta/files/aaa`,
    `\t${google}/v1beta/files/aaa#b`,
    `${google}\\v1beta\\files\\aaa`,
    'https:generativelanguage.googleapis.com/v1beta/files/aaa',
    'https:\\\\generativelanguage.googleapis.com/v1beta/files/aaa',
    'https://user:word@generativelanguage.googleapis.com/v1beta/files/aaa',
    'https://generativelanguage%2Egoogleapis.com/v1beta/files/aaa',
    '//generativelanguage.googleapis.com/v1beta/files/aaa',
    'generativelanguage.googleapis.com/v1beta/files/aaa',
    `${urls.lane}/v1beta/files/own/../aaa`,
    `${urls.lane}/v1beta/x/../files/aaa`,
    `${urls.lane}//v1beta//files/aaa`,
  ])('%s names what nobody has', (fileUri) => {
    const body = Buffer.from(JSON.stringify({ contents: [{ parts: [{ fileData: { fileUri } }] }] }))
    expect(match('POST /v1beta/models/m:generateContent').endpoint.references('', body)).toEqual([
      { type: 'file', id: fileUri },
    ])
  })

  it.each([
    'https://youtu.be/x',
    'https://www.youtube.com/watch?v=a%20b',
    'https://a.example/files/f',
    'gs://bucket/files/f',
    'data:text/plain,files/f',
  ])('%s is a page of the web', (fileUri) => {
    const body = Buffer.from(JSON.stringify({ contents: [{ parts: [{ fileData: { fileUri } }] }] }))
    expect(match('POST /v1beta/models/m:generateContent').endpoint.references('', body)).toEqual([])
  })
})

describe('URLs', () => {
  const answer = Buffer.from(
    JSON.stringify({
      uri: `${urls.provider}/v1beta/files/a`,
      downloadUri: `${urls.provider}/download/v1beta/files/a:download?alt=media`,
      docs: `${urls.provider}/v1beta/files/a`,
      web: { uri: 'https://vertexaisearch.cloud.google.com/grounding-api-redirect/x' },
      page: { uri: `${urls.provider}/$discovery/rest` },
    }),
  )

  it('leads files back here, and nothing else', () => {
    const written = objects.rewriteAnswerUrls(answer, urls)
    expect(JSON.parse(written.toString())).toEqual({
      uri: `${urls.lane}/v1beta/files/a`,
      downloadUri: `${urls.lane}/download/v1beta/files/a:download?alt=media`,
      docs: `${urls.provider}/v1beta/files/a`,
      web: { uri: 'https://vertexaisearch.cloud.google.com/grounding-api-redirect/x' },
      page: { uri: `${urls.provider}/$discovery/rest` },
    })
    expect(objects.rewriteRequestUrls(written, urls)).toEqual(answer)
  })

  it('leads files and videos of other hosts back here too, or nowhere', () => {
    const evil = 'https://evil.example'
    const answered = {
      file: { name: 'files/a', uri: `${evil}/x`, downloadUri: `${evil}/y` },
      nameless: { downloadUri: `${evil}/z` },
      files: [{ name: 'files/b', uri: `${urls.provider}.evil.example/v1/files/b` }],
      samples: [{ video: { uri: `${evil}/v1beta/files/v:download?alt=media` } }, { video: { uri: `${evil}/v` } }],
      odd: { video: { uri: 'https://generativelanguage.googleapis.com@evil.example/v' } },
      bucket: { video: { uri: 'gs://bucket/v.mp4' } },
      known: { video: { uri: 'https://generativelanguage.googleapis.com/v' } },
      groundingMetadata: { web: { uri: `${evil}/page` }, video: { uri: `${evil}/cited` } },
    }
    expect(JSON.parse(objects.rewriteAnswerUrls(Buffer.from(JSON.stringify(answered)), urls).toString())).toEqual({
      ...answered,
      file: {
        name: 'files/a',
        uri: `${urls.lane}/v1beta/files/a`,
        downloadUri: `${urls.lane}/download/v1beta/files/a:download?alt=media`,
      },
      nameless: { downloadUri: null },
      files: [{ name: 'files/b', uri: `${urls.lane}/v1/files/b` }],
      samples: [{ video: { uri: `${urls.lane}/v1beta/files/v:download?alt=media` } }, { video: { uri: null } }],
      odd: { video: { uri: null } },
    })
  })

  it('sees through an escaped name', () => {
    const body = Buffer.from('{"name":"files/a","\\u0075r\\u0069":"https://evil.example/x"}')
    expect(JSON.parse(objects.rewriteAnswerUrls(body, urls).toString())).toMatchObject({
      uri: `${urls.lane}/v1beta/files/a`,
    })
  })

  it('is the same buffer when there is nothing to lead', () => {
    const body = Buffer.from('{"fileUri":"https://youtu.be/x"}')
    expect(objects.rewriteAnswerUrls(body, urls)).toBe(body)
    expect(objects.rewriteRequestUrls(body, urls)).toBe(body)
  })
})

describe('inspect', () => {
  it('reads an interaction’s model and stream from its body, or from the query of one that is stored', () => {
    expect(inspect(interact, { model: 'g', stream: true })).toMatchObject({
      model: 'g',
      streamed: true,
      framing: 'sse',
    })
    expect(inspect(interact, { agent: 'a' })).toMatchObject({ model: null, streamed: false, stores: true })
    const get = 'GET /v1beta/interactions/i'
    expect(inspect(get, {}, '?stream=true&last_event_id=e')).toMatchObject({ streamed: true, framing: 'sse' })
    expect(inspect(get)).toMatchObject({ streamed: false })
  })

  it('renames a model the way it was written', () => {
    const rename = (call: string, body: object) => {
      const bytes = Buffer.from(JSON.stringify(body))
      const change = { renameTo: 'up', askForUsage: false }
      return JSON.parse(gemini.patchBody(bytes, inspect(call, body), change).toString()) as unknown
    }
    expect(rename(interact, { model: 'g' })).toEqual({ model: 'up' })
    expect(rename('POST /v1beta/cachedContents', { model: 'models/g' })).toEqual({ model: 'models/up' })
    const batch = (model: string) => ({
      batch: { model, inputConfig: { requests: { requests: [{ request: { model } }] } } },
    })
    const create = 'POST /v1beta/models/g:batchGenerateContent'
    expect(rename(create, batch('models/g'))).toEqual(batch('models/up'))
    expect(() => inspect(create, batch('models/h'))).toThrow(/another model/)
  })

  it('asks for bytes as the SDKs meant to', () => {
    const get = 'GET /v1beta/files/a:download'
    expect(inspect(get, {}, '?alt=media').query).toBe('?alt=media')
    expect(inspect(get, {}, '?alt=media:download&alt=media').query).toBe('?alt=media')
    expect(() => inspect(get, {}, '?alt=proto')).toThrow(/alt may be/)
    expect(() => inspect('GET /v1beta/files', {}, '?fields=files.uri')).toThrow(/fields/)
  })
})

it.each([
  [
    'file',
    'files/a',
    403,
    {
      code: 403,
      message: 'You do not have permission to access the File a or it may not exist.',
      status: 'PERMISSION_DENIED',
    },
  ],
  ['batch', 'batches/a', 404, { code: 404, message: 'Requested entity was not found: batches/a', status: 'NOT_FOUND' }],
  ['interaction', 'i', 404, { code: 'not_found', message: 'Interaction i not found.' }],
] as const)('says that there is no %s the way the provider does', (type, id, status, error) => {
  const rendered = objects.notFound(match('GET /v1beta/files/a'), { type, id }, 'req_1')
  expect(rendered.status).toBe(status)
  expect(JSON.parse(rendered.body.toString())).toEqual({ error })
})
