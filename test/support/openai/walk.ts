import type OpenAI from 'openai'
import { toFile } from 'openai'
import { expect } from 'vitest'
import { spokenText } from '../mock-format.ts'

/** One family, walked by an SDK the way its users do. */
export interface Walk {
  family: string
  /** The SDK that first had it; the one before has no method for it. */
  since?: 7
  walk(client: OpenAI, kit: WalkKit): Promise<void>
}

export interface WalkKit {
  chat: string
  embedding: string
  moderation: string
  completion: string
  /** Makes an object at the provider, which an operator then adopts; its id. */
  adopt(type: 'call' | 'live_session', prefix: string): Promise<string>
}

export const textFile = (name = 'notes.txt', text = 'Grüße, 世界 🌍') => toFile(Buffer.from(text), name)

export async function readAll<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

/** Every item of a list, page by page. */
export async function ids(items: AsyncIterable<{ id: string | null }>): Promise<(string | null)[]> {
  return (await readAll(items)).map(({ id }) => id)
}

export async function bytesOf(response: Promise<Response>): Promise<Buffer> {
  return Buffer.from(await (await response).arrayBuffer())
}

/** Refused by the gateway, in the provider's words, before anything has gone up. */
export async function expectNotFound(call: Promise<unknown>): Promise<void> {
  const failure = (await call.catch((error: unknown) => error)) as { status?: number; headers?: Headers }
  expect(failure.status === 404 || failure.status === 400).toBe(true)
  expect(failure.headers?.get('x-sp-error')).toBe('object_not_found')
}

const messages = [{ role: 'user' as const, content: 'hello' }]

export const generationWalks: readonly Walk[] = [
  {
    family: 'chat, and stored chats',
    async walk(client, { chat: model }) {
      const first = await client.chat.completions.create({ model, messages, store: true })
      const second = await client.chat.completions.create({ model, messages, store: true, metadata: { a: 'b' } })
      expect(await ids(client.chat.completions.list({ limit: 1 }))).toEqual([second.id, first.id])
      expect((await client.chat.completions.retrieve(first.id)).id).toBe(first.id)
      const changed = await client.chat.completions.update(first.id, { metadata: { topic: 'x' } })
      expect(changed.metadata).toEqual({ topic: 'x' })
      expect(await readAll(client.chat.completions.messages.list(first.id))).toHaveLength(1)
      for (const { id } of [first, second]) expect((await client.chat.completions.delete(id)).deleted).toBe(true)
      await expect(client.chat.completions.retrieve(first.id)).rejects.toMatchObject({ status: 404 })
      const asked = { model, messages, stream: true as const, stream_options: { include_usage: true } }
      const streamed = await readAll(await client.chat.completions.create(asked))
      expect(streamed.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(spokenText)
    },
  },
  {
    family: 'completions, embeddings, moderations, models',
    async walk(client, { completion, embedding, moderation }) {
      const text = await client.completions.create({ model: completion, prompt: 'x' })
      expect(text.choices[0]?.text).toBe(spokenText)
      const vectors = await client.embeddings.create({ model: embedding, input: ['a', 'b'] })
      expect(vectors.data[1]?.embedding).toEqual([0.25, -0.5, 2])
      const judged = await client.moderations.create({ model: moderation, input: 'x' })
      expect(judged.results[0]?.flagged).toBe(false)
      expect(await ids(client.models.list())).toContain(embedding)
      expect((await client.models.retrieve(embedding)).id).toBe(embedding)
    },
  },
  {
    family: 'decisions',
    since: 7,
    async walk(client, { chat: model }) {
      const questions = [{ type: 'predicate' as const, name: 'fits', instructions: 'Does it fit?' }]
      const decision = await client.decisions.create({ model, input: 'x', questions })
      expect(decision.answers[0]).toMatchObject({ name: 'fits', probability: 0.75 })
    },
  },
  {
    family: 'responses',
    async walk(client, { chat: model }) {
      const file = await client.files.create({ file: await textFile(), purpose: 'user_data' })
      const input = [
        { role: 'user' as const, content: [{ type: 'input_file' as const, file_id: file.id }] },
        { role: 'user' as const, content: 'again' },
      ]
      const first = await client.responses.create({ model, input })
      expect(first.output_text).toBe(spokenText)
      const item = first.output[0]?.id ?? ''
      const reference = [{ type: 'item_reference' as const, id: item }]
      const second = await client.responses.create({ model, input: reference, previous_response_id: first.id })
      expect((await client.responses.retrieve(second.id)).id).toBe(second.id)
      expect(await readAll(client.responses.inputItems.list(first.id, { limit: 1 }))).toHaveLength(2)
      const live = await readAll(await client.responses.create({ model, input: 'x', stream: true }))
      expect(live.at(-1)?.type).toBe('response.completed')
      const made = live[0]?.type === 'response.created' ? live[0].response.id : ''
      const replayed = await readAll(await client.responses.retrieve(made, { stream: true }))
      expect(replayed).toEqual(live)
      const rest = await readAll(await client.responses.retrieve(made, { stream: true, starting_after: 5 }))
      expect(rest).toEqual(live.slice(6))
      // What streamed has items too.
      const done = live.at(-1)
      const said = done?.type === 'response.completed' ? (done.response.output[0]?.id ?? '') : ''
      await client.responses.create({ model, input: [{ type: 'item_reference', id: said }] })
      const later = await client.responses.create({ model, input: 'x', background: true })
      expect((await client.responses.cancel(later.id)).status).toBe('cancelled')
      const compacted = await client.responses.compact({ model: model as 'gpt-5.2', previous_response_id: first.id })
      expect(compacted.object).toBe('response.compaction')
      expect((await client.responses.inputTokens.count({ model, input: 'x' })).input_tokens).toBe(11)
      await expectNotFound(client.responses.create({ model, input: 'x', previous_response_id: 'resp_of_others' }))
      await expectNotFound(client.responses.create({ model, input: [{ type: 'item_reference', id: 'msg_of_others' }] }))
      await client.responses.delete(first.id)
      await expect(client.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 })
    },
  },
  {
    family: 'responses, as the beta has them',
    async walk(client, { chat: model }) {
      const { responses } = client.beta
      const made = await responses.create({ model: model as 'gpt-5.2', input: 'x', background: true })
      expect((await responses.retrieve(made.id)).id).toBe(made.id)
      expect(await readAll(responses.inputItems.list(made.id))).toHaveLength(1)
      expect((await responses.inputTokens.count({ model, input: 'x' })).input_tokens).toBe(11)
      await responses.compact({ model: model as 'gpt-5.2', previous_response_id: made.id })
      expect((await responses.cancel(made.id)).status).toBe('cancelled')
      await responses.delete(made.id)
    },
  },
  {
    family: 'conversations',
    async walk(client, { chat: model }) {
      const say = (content: string) => ({ type: 'message' as const, role: 'user' as const, content })
      const { id } = await client.conversations.create({ items: [say('one')], metadata: { a: 'b' } })
      expect((await client.conversations.retrieve(id)).metadata).toEqual({ a: 'b' })
      await client.conversations.update(id, { metadata: { c: 'd' } })
      const added = await client.conversations.items.create(id, { items: [say('two'), say('three')] })
      const all = await readAll(client.conversations.items.list(id, { limit: 2 }))
      expect(all).toHaveLength(3)
      const item = added.data[0]?.id ?? ''
      expect(await client.conversations.items.retrieve(item, { conversation_id: id })).toMatchObject({ id: item })
      await client.conversations.items.delete(item, { conversation_id: id })
      for (const conversation of [id, { id }])
        expect((await client.responses.create({ model, input: 'x', conversation })).conversation).toEqual({ id })
      expect((await client.conversations.delete(id)).deleted).toBe(true)
    },
  },
]
