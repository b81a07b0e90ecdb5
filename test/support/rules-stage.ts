import { expect } from 'vitest'
import type { ContentRule } from '../../src/core/policies/content-rules.ts'
import { startDataPlane } from './data-plane.ts'
import { makePolicy, makeRoute, makeTarget } from './snapshot.ts'
import { dial, type End, startSocketProvider } from './sockets.ts'

export const secret = 'sk-proj-Abc123Def456Ghi789'
export const mail = 'jane@example.com'

const rule = (more: Partial<ContentRule>): ContentRule => ({
  ...{ name: 'rule', detector: 'secrets', pattern: null, action: 'redact', on: ['answer'] },
  ...{ reversible: false, longest: 200, ...more },
})
const policies: Record<string, ContentRule[]> = {
  masks: [rule({})],
  hides: [rule({ on: ['prompt'] })],
  blocks: [rule({ action: 'block' })],
  refuses: [rule({ action: 'block', on: ['prompt'] })],
  flags: [rule({ action: 'flag', on: ['prompt', 'answer'] })],
  returns: [rule({ detector: 'email-addresses', on: ['prompt'], reversible: true })],
  both: [rule({ detector: 'email-addresses', on: ['prompt', 'answer'], reversible: true })],
  patterns: [rule({ name: 'p', detector: null, pattern: 'sk-proj-\\w+', on: ['prompt', 'answer'] })],
}

/** A data-plane thread whose one key gets the policy that a connection is asked for with. */
export async function openRulesStage() {
  const provider = await startSocketProvider()
  const make = (name: string, contentRules: ContentRule[], denyUnseen: boolean) =>
    makePolicy(name, { attachedTo: { workspace: false, ids: [] }, contentRules, denyUnseen })
  const plane = await startDataPlane({
    providers: [{ kind: 'openai', baseUrl: `${provider.baseUrl}/v1` }],
    policies: [
      ...Object.entries(policies).map(([name, rules]) => make(name, rules, false)),
      make('strict', [rule({ on: ['prompt', 'answer'] })], true),
      makePolicy('scarce', {
        ...{ attachedTo: { workspace: false, ids: [] }, rpm: 3 },
        contentRules: [rule({ action: 'block', on: ['prompt'] })],
      }),
      makePolicy('none', { attachedTo: { workspace: false, ids: [] } }),
    ],
    routes: [makeRoute('m', [makeTarget('openai:m')]), makeRoute('renamed', [makeTarget('openai:gpt-x')])],
  })
  /** A connection whose first frame has not been sent. */
  async function open(policy: string) {
    await plane.changeKey({ policyId: `pol_${policy}` })
    const client = await dial(`${plane.baseUrl}/v1/responses`, { headers: { authorization: `Bearer ${plane.key}` } })
    return {
      client,
      async signals() {
        client.socket.close(1000)
        const record = await plane.record(client.requestId)
        expect(record).toMatchObject({ status: 101, error: null })
        return record.policy_signals.filter(({ rule: of }) => of.startsWith('content.'))
      },
    }
  }
  /** A connection with a turn under way. */
  async function connect(policy: string, more: object = {}) {
    const opened = await open(policy)
    opened.client.send({ ...create('hi'), ...more })
    const { end: far } = await provider.accepted()
    const up = await far.next()
    return { ...opened, far, up }
  }
  return {
    ...{ provider, plane, open, connect },
    async stop() {
      await plane.stop()
      await provider.stop()
    },
  }
}

export const create = (input: unknown, more: object = {}) => ({
  ...{ type: 'response.create', model: 'm', input },
  ...more,
})
const part = { item_id: 'i', output_index: 0, content_index: 0 }
const message = (text: string) => ({
  id: 'i',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [{ token: text }] }],
})
export const delta = (text: string) => ({
  type: 'response.output_text.delta',
  ...part,
  delta: text,
  logprobs: [{ token: text }],
})
export const completed = (text: string, id = 'r') => ({
  type: 'response.completed',
  response: { id, status: 'completed', output: [message(text)], usage: { input_tokens: 3, output_tokens: 4 } },
})
export const answer = (pieces: readonly string[], id = 'r') => [
  { type: 'response.created', response: { id, output: [] } },
  ...pieces.map(delta),
  { type: 'response.output_text.done', ...part, text: pieces.join(''), logprobs: [] },
  { type: 'response.content_part.done', ...part, part: message(pieces.join('')).content[0] },
  { type: 'response.output_item.done', output_index: 0, item: message(pieces.join('')) },
  completed(pieces.join(''), id),
]

type Event = Record<string, unknown>
export async function until(client: End, type: string): Promise<Event[]> {
  const events: Event[] = []
  do events.push(await client.nextJson())
  while (events.at(-1)?.type !== type)
  return events
}
export const joined = (events: readonly Event[]) =>
  events.map(({ type, delta: text }) => (type === 'response.output_text.delta' ? text : '')).join('')
