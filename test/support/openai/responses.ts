import { isObject, type JsonObject } from '../mock-format.ts'
import type { MockAccount, MockObject } from '../mock-objects.ts'
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

/** Stored responses and chat completions, and conversations. What makes them is in `mock-openai.ts`. */
export const responses: readonly FamilyRow[] = [
  on('GET /responses/{id}', withOne('response', showResponse)),
  on('DELETE /responses/{id}', remove('response', 'response')),
  on('POST /responses/{id}/cancel', withOne('response', cancelResponse)),
  on(
    'GET /responses/{id}/input_items',
    withOne('response', ({ id }, { account, call }) => page(account.all(`${id}/input`), call.query)),
  ),
  on('POST /responses/compact', compact, 'json', 'model'),
  on('POST /responses/input_tokens', () => ({ object: 'response.input_tokens', input_tokens: 11 }), 'json'),

  on('POST /conversations', createConversation, 'json'),
  on('GET /conversations/{id}', withOne('conversation', show)),
  on('POST /conversations/{id}', update('conversation'), 'json'),
  on('DELETE /conversations/{id}', remove('conversation')),
  on('POST /conversations/{id}/items', withOne('conversation', addItems), 'json', 'items'),
  on(
    'GET /conversations/{id}/items',
    withOne('conversation', ({ id }, { account, call }) => page(account.all(`${id}/item`), call.query)),
  ),
  on('GET /conversations/{id}/items/{item}', withInner('conversation', 'item', show)),
  on(
    'DELETE /conversations/{id}/items/{item}',
    withInner('conversation', 'item', (item, { account }, conversation) => {
      account.drop(`${conversation.id}/item`, item.id)
      return conversation
    }),
  ),

  on('GET /chat/completions', list('chat_completion')),
  on('GET /chat/completions/{id}', withOne('chat_completion', show)),
  on('POST /chat/completions/{id}', update('chat_completion'), 'json', 'metadata'),
  on('DELETE /chat/completions/{id}', remove('chat_completion', 'chat.completion.deleted')),
  on(
    'GET /chat/completions/{id}/messages',
    withOne('chat_completion', ({ id }, { account, call }) => page(account.all(`${id}/message`), call.query)),
  ),
]

function showResponse(response: MockObject, { call, account }: FamilyCall): Given {
  if (call.query.get('stream') !== 'true') return response
  const after = Number(call.query.get('starting_after') ?? -1)
  const stream = account
    .bytes(response.id)
    .toString('utf8')
    .split(/(?<=\n\n)/)
  return { stream: stream.slice(after + 1), tokens: false }
}

function cancelResponse(response: MockObject): Given {
  if (response.background !== true) return new Refusal(400, 'Only background responses can be cancelled.')
  return Object.assign(response, { status: 'cancelled' })
}

function compact({ call, account, body, usage }: FamilyCall): Given {
  const missing = findMissing(account, body)
  if (missing !== null) return missing
  const id = call.objects.nextId('resp_')
  const output = [{ type: 'compaction', id: call.objects.nextId('cmp_'), encrypted_content: 'AAAA' }]
  const used = {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  }
  return { id, object: 'response.compaction', created_at: created, output, usage: used }
}

function createConversation(given: FamilyCall): Given {
  const { account, body } = given
  const missing = findMissing(account, body)
  if (missing !== null) return missing
  const metadata = body.metadata ?? {}
  const conversation = make('conversation', 'conv_', () => ({ object: 'conversation', created_at: created, metadata }))(
    given,
  )
  if ('id' in conversation) keepItems(given, `${String(conversation.id)}/item`, body.items)
  return conversation
}

function addItems({ id }: MockObject, given: FamilyCall): Given {
  const missing = findMissing(given.account, given.body)
  if (missing !== null) return missing
  const data = keepItems(given, `${id}/item`, given.body.items)
  return { object: 'list', data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: false }
}

function keepItems(given: Pick<FamilyCall, 'account' | 'call'>, kind: string, items: unknown): MockObject[] {
  return asItems(items).map((item) => {
    const kept = { status: 'completed', ...item, id: given.call.objects.nextId('msg_') }
    given.account.keep('item', kept)
    return given.account.keep(kind, kept)
  })
}

function asItems(items: unknown): JsonObject[] {
  if (typeof items === 'string')
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: items }] }]
  return Array.isArray(items) ? items.filter(isObject) : []
}

/** What was made of a request whose answer is stored; `events` is how it was streamed. */
export function keepResponse(
  given: Pick<FamilyCall, 'account' | 'call' | 'body'>,
  response: MockObject,
  events: string[],
): void {
  const { account, body } = given
  account.keep('response', response, Buffer.from(events.join('')))
  keepItems(given, `${response.id}/input`, body.input)
  for (const item of Array.isArray(response.output) ? response.output : []) account.keep('item', item as MockObject)
}

/** The first object that a request names and the account does not have. */
export function findMissing(account: MockAccount, body: JsonObject): Refusal | null {
  const previous = body.previous_response_id
  if (typeof previous === 'string' && account.find('response', previous) === null)
    return new Refusal(
      400,
      `Previous response with id '${previous}' not found.`,
      'previous_response_id',
      'previous_response_not_found',
    )
  const { conversation } = body
  const id = isObject(conversation) ? conversation.id : conversation
  if (typeof id === 'string' && account.find('conversation', id) === null) return notFound('conversation', id)
  const text = JSON.stringify({ ...body, metadata: null })
  for (const [, file = ''] of text.matchAll(/"file_id":"([^"]+)"/g))
    if (account.find('file', file) === null) return notFound('file', file)
  for (const [, list = ''] of text.matchAll(/"vector_store_ids":\[([^\]]*)\]/g))
    for (const [, store = ''] of list.matchAll(/"([^"]+)"/g))
      if (account.find('vector_store', store) === null) return notFound('vector_store', store)
  return findMissingItem(account, body.input)
}

function findMissingItem(account: MockAccount, input: unknown): Refusal | null {
  for (const item of Array.isArray(input) ? input.filter(isObject) : []) {
    const bare = item.type === 'item_reference' || (item.type === undefined && item.role === undefined)
    if (!bare || account.find('item', String(item.id)) !== null) continue
    const message = `Item with id '${String(item.id)}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`
    return new Refusal(404, message, 'input')
  }
  return null
}
