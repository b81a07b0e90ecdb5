import type { LaneName } from '../../src/core/lane.ts'
import type { ObjectType } from '../../src/core/objects/stored-object.ts'

interface InBody {
  lane: LaneName
  path: string
  body: object
  /** What the body names. */
  types: [ObjectType, string][]
}

const openai = (path: string, body: object, ...types: [ObjectType, string][]): InBody => ({
  lane: 'openai',
  path: `/v1${path}`,
  body,
  types,
})
const model = 'openai-1'
const responses = (body: object, ...types: [ObjectType, string][]) =>
  openai('/responses', { model, input: 'hello', ...body }, ...types)

const anthropic = (path: string, body: object, ...types: [ObjectType, string][]): InBody => ({
  lane: 'anthropic',
  path: `/v1/anthropic${path}`,
  body,
  types,
})
const message = (more: object) => ({
  model: 'anthropic-1',
  max_tokens: 10,
  messages: [{ role: 'user', content: 'hello' }],
  ...more,
})
const document = { role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'file-a' } }] }

const gemini = (path: string, body: object, ...types: [ObjectType, string][]): InBody => ({
  lane: 'gemini',
  path: `/v1/gemini/v1beta${path}`,
  body,
  types,
})
const contents = [{ parts: [{ text: 'hello' }] }]

/** Every place of a body in which an object of the caller's can be named. */
export const inBody: InBody[] = [
  openai(
    '/chat/completions',
    { model, messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-a' } }] }] },
    ['file', 'file-a'],
  ),
  openai(
    '/chat/completions',
    {
      model,
      messages: [
        { role: 'assistant', audio: { id: 'msg-a' } },
        { role: 'user', content: 'Again?' },
      ],
    },
    ['item', 'msg-a'],
  ),
  responses({ previous_response_id: 'resp-a' }, ['response', 'resp-a']),
  responses({ prompt: { id: 'pmpt-a', version: '2' } }, ['prompt', 'pmpt-a']),
  responses({ conversation: 'conv-a' }, ['conversation', 'conv-a']),
  responses({ conversation: { id: 'conv-a' } }, ['conversation', 'conv-a']),
  responses({ tools: [{ type: 'file_search', vector_store_ids: ['vs-a'] }] }, ['vector_store', 'vs-a']),
  responses({ tools: [{ type: 'code_interpreter', container: 'cntr-a' }] }, ['container', 'cntr-a']),
  responses({ tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-a'] } }] }, [
    'file',
    'file-a',
  ]),
  responses({ input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-a' }] }] }, ['file', 'file-a']),
  responses({ input: [{ type: 'item_reference', id: 'msg-a' }] }, ['item', 'msg-a']),
  responses({ 'previous\u005fresponse_id': 'resp-a' }, ['response', 'resp-a']),
  openai('/batches', { input_file_id: 'file-a', endpoint: '/v1/responses', completion_window: '24h' }, [
    'file',
    'file-a',
  ]),
  openai('/fine_tuning/jobs', { model, training_file: 'file-a' }, ['file', 'file-a']),
  openai(
    '/fine_tuning/jobs',
    { model, training_file: 'file-a', validation_file: 'file-b' },
    ['file', 'file-a'],
    ['file', 'file-b'],
  ),
  openai('/vector_stores', { file_ids: ['file-a', 'file-b'] }, ['file', 'file-a'], ['file', 'file-b']),
  openai('/containers', { name: 'c', file_ids: ['file-a'] }, ['file', 'file-a']),
  anthropic('/v1/messages', message({ messages: [document] }), ['file', 'file-a']),
  anthropic('/v1/messages', message({ container: 'container-a' }), ['container', 'container-a']),
  anthropic('/v1/messages', message({ container: { id: 'container-a' } }), ['container', 'container-a']),
  anthropic(
    '/v1/messages',
    message({ container: { skills: [{ type: 'custom', skill_id: 'skill_a', version: 'latest' }] } }),
    ['skill', 'skill_a'],
  ),
  anthropic('/v1/messages/count_tokens', message({ messages: [document] }), ['file', 'file-a']),
  anthropic('/v1/messages/batches', { requests: [{ custom_id: '1', params: message({ messages: [document] }) }] }, [
    'file',
    'file-a',
  ]),
  gemini('/models/gemini-1:generateContent', { contents, cachedContent: 'cachedContents/a' }, [
    'cached_content',
    'cachedContents/a',
  ]),
  gemini('/models/gemini-1:generateContent?cachedContent=cachedContents/a', { contents }, [
    'cached_content',
    'cachedContents/a',
  ]),
  gemini('/models/gemini-1:generateContent', { contents, cached_content: 'cachedContents/a' }, [
    'cached_content',
    'cachedContents/a',
  ]),
  gemini(
    '/models/gemini-1:generateContent',
    {
      contents: [{ parts: [{ fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/a' } }] }],
    },
    ['file', 'files/a'],
  ),
  gemini('/models/gemini-1:countTokens', { contents: [{ parts: [{ file_data: { file_uri: 'files/a' } }] }] }, [
    'file',
    'files/a',
  ]),
  gemini(
    '/models/gemini-1:generateContent',
    { contents, tools: [{ fileSearch: { fileSearchStoreNames: ['fileSearchStores/a'] } }] },
    ['file_search_store', 'fileSearchStores/a'],
  ),
  gemini('/models/gemini-1:batchGenerateContent', { batch: { inputConfig: { fileName: 'files/a' } } }, [
    'file',
    'files/a',
  ]),
  gemini('/interactions', { model: 'gemini-1', input: 'hello', previous_interaction_id: 'int-a' }, [
    'interaction',
    'int-a',
  ]),
]
