import { once } from 'node:events'
import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ContentRule } from '../../../src/core/content-rules.ts'
import { type DataPlane, startDataPlane } from '../../support/data-plane.ts'
import { makePolicy, makeRoute, makeTarget } from '../../support/snapshot.ts'
import { dial, type End, type SocketProvider, startSocketProvider } from '../../support/sockets.ts'

const secret = 'sk-proj-Abc123Def456Ghi789'
const mail = 'jane@example.com'
const file = 'iVBORw0KGgo'.repeat(40)

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

let provider: SocketProvider
let plane: DataPlane
beforeAll(async () => {
  provider = await startSocketProvider()
  const make = (name: string, contentRules: ContentRule[], denyUnseen: boolean) =>
    makePolicy(name, { attachedTo: { workspace: false, ids: [] }, contentRules, denyUnseen })
  plane = await startDataPlane({
    providers: [{ kind: 'openai', baseUrl: `${provider.baseUrl}/v1` }],
    policies: [
      ...Object.entries(policies).map(([name, rules]) => make(name, rules, false)),
      make('strict', [rule({ on: ['prompt', 'answer'] })], true),
      makePolicy('none', { attachedTo: { workspace: false, ids: [] } }),
    ],
    routes: [makeRoute('m', [makeTarget('openai:m')]), makeRoute('renamed', [makeTarget('openai:gpt-x')])],
  })
})
afterAll(async () => {
  await plane.stop()
  await provider.stop()
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

const create = (input: unknown, more: object = {}) => ({
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
const delta = (text: string) => ({
  type: 'response.output_text.delta',
  ...part,
  delta: text,
  logprobs: [{ token: text }],
})
const completed = (text: string, id = 'r') => ({
  type: 'response.completed',
  response: { id, status: 'completed', output: [message(text)], usage: { input_tokens: 3, output_tokens: 4 } },
})
const answer = (pieces: readonly string[], id = 'r') => [
  { type: 'response.created', response: { id, output: [] } },
  ...pieces.map(delta),
  { type: 'response.output_text.done', ...part, text: pieces.join(''), logprobs: [] },
  { type: 'response.content_part.done', ...part, part: message(pieces.join('')).content[0] },
  { type: 'response.output_item.done', output_index: 0, item: message(pieces.join('')) },
  completed(pieces.join(''), id),
]

type Event = Record<string, unknown>
async function until(client: End, type: string): Promise<Event[]> {
  const events: Event[] = []
  do events.push(await client.nextJson())
  while (events.at(-1)?.type !== type)
  return events
}
const joined = (events: readonly Event[]) =>
  events.map(({ type, delta: text }) => (type === 'response.output_text.delta' ? text : '')).join('')

describe('a prompt on a Responses socket', () => {
  it('is redacted, and no other byte of its frame changes', async () => {
    const { client, signals } = await open('hides')
    const frame = (key: string) =>
      `{ "type":"response.create", "model" : "m","instructions":"The key is ${key}, mind",  "input": [` +
      `{"type":"function_call","call_id":"c","name":"f","arguments":"{\\"k\\": \\"${key}\\"}"},` +
      `{"type":"function_call_output","call_id":"c","output":"${key}"}], "é":1.0 }`
    client.socket.send(frame(secret))
    const { end } = await provider.accepted()
    expect((await end.next()).text).toBe(frame('[KEY_1]'))
    expect(await signals()).toMatchObject([{ rule: 'content.redact', data: { on: 'prompt', places: 3 } }])
  })

  it('is refused by a block rule before a provider is asked, and the connection goes on', async () => {
    const { client, signals } = await open('refuses')
    for (const _turn of [1, 2]) {
      client.send(create([{ role: 'user', content: `It is ${secret}` }]))
      expect(await client.nextJson()).toMatchObject({
        ...{ type: 'error', status: 403 },
        error: { code: 'policy_denied', param: 'input[0].content', message: expect.not.stringContaining('sk-') },
      })
    }
    client.send(create('hello'))
    const { end } = await provider.accepted()
    expect(await end.nextJson()).toMatchObject({ input: 'hello' })
    client.send({ ...create(secret), stream_id: 's' })
    expect(await client.nextJson()).toMatchObject({ type: 'error', stream_id: 's' })
    end.send(completed('fine'))
    expect(await client.nextJson()).toMatchObject({ type: 'response.completed' })
    expect(await signals()).toMatchObject([{ rule: 'content.block', verdict: 'deny', data: { places: 3 } }])
  })

  it('has its model renamed beside what is redacted', async () => {
    const { client } = await open('hides')
    client.send({ ...create(secret), model: 'renamed' })
    const { end } = await provider.accepted()
    expect(await end.nextJson()).toEqual({ type: 'response.create', input: '[KEY_1]', model: 'gpt-x' })
    client.socket.close(1000)
  })

  it('is flagged, and passes', async () => {
    const { client, far, signals } = await connect('flags', { input: secret })
    for (const event of answer([secret])) far.send(event)
    expect(joined(await until(client, 'response.completed'))).toBe(secret)
    expect(await signals()).toMatchObject([
      { rule: 'content.flag', data: { on: 'prompt' } },
      { rule: 'content.flag', data: { on: 'answer' } },
    ])
  })

  it('that steers a response is looked at too', async () => {
    const { client, far } = await connect('hides')
    client.send({ type: 'response.steer', previous_response_id: 'r', input: `Use ${secret}` })
    expect(await client.nextJson()).toMatchObject({
      error: { code: 'object_index_unavailable' },
    })
    far.send({ type: 'response.created', response: { id: 'r' } })
    await client.next()
    client.send({ type: 'response.steer', previous_response_id: 'r', input: `Use ${secret}` })
    expect(await far.nextJson()).toMatchObject({ input: 'Use [KEY_1]' })
    client.socket.close(1000)
  })

  it('of a type that nobody knows is refused where it has texts, and passes where it only names things', async () => {
    const { client, far } = await connect('hides')
    client.send({ type: 'response.append', input: 'sk-proj-Abc' })
    expect(await client.nextJson()).toMatchObject({ error: { code: 'policy_denied', param: 'type' } })
    client.send({ type: 'response.processed', event_id: 'e' })
    expect(await far.nextJson()).toEqual({ type: 'response.processed', event_id: 'e' })
    client.socket.close(1000)
  })

  it('with a picture is denied where the policy says so, and its connection is not', async () => {
    const { client, far, signals } = await connect('strict')
    const picture = create([
      { role: 'user', content: [{ type: 'input_image', image_url: `data:image/png;base64,${file}` }] },
    ])
    for (const _turn of [1, 2]) {
      client.send(picture)
      expect(await client.nextJson()).toMatchObject({ type: 'error', error: { code: 'policy_denied' } })
    }
    client.send(create('words'))
    expect(await far.nextJson()).toMatchObject({ input: 'words' })
    expect(await signals()).toMatchObject([{ rule: 'content.unseen', verdict: 'deny', data: { on: 'prompt' } }])
  })

  it('of many megabytes holds nobody up', async () => {
    const { client, far } = await connect('patterns')
    client.send(create(`${'word '.repeat(1_200_000)}${secret}`))
    expect((await far.nextJson()).input).toMatch(/word \[P_1\]$/)
    client.socket.close(1000)
  })

  it('is looked at by the rules that there are by then', async () => {
    const { client, far } = await connect('none')
    client.send(create(secret))
    expect(await far.nextJson()).toMatchObject({ input: secret })
    await plane.changeKey({ policyId: 'pol_hides' })
    client.send(create(secret))
    expect(await far.nextJson()).toMatchObject({ input: '[KEY_1]' })
    await plane.changeKey({ policyId: 'pol_none' })
    client.send(create(secret))
    expect(await far.nextJson()).toMatchObject({ input: secret })
    client.socket.close(1000)
  })
})

describe('placeholders on a Responses socket', () => {
  const ask = async ({ client, far }: { client: End; far: End }, input: string, pieces: string[], id: string) => {
    client.send(create(input))
    const up = await far.nextJson()
    for (const event of answer(pieces, id)) far.send(event)
    const events = await until(client, 'response.completed')
    return { up: up.input, said: joined(events), events }
  }

  it('stand for the same in all turns, and are restored in later answers, in arguments too', async () => {
    const opened = await connect('returns', { input: `To ${mail}` })
    expect(JSON.parse(opened.up.text).input).toBe('To [EMAIL_1]')
    for (const event of answer(['To [EMA', 'IL_1].'])) opened.far.send(event)
    expect(joined(await until(opened.client, 'response.completed'))).toBe(`To ${mail}.`)
    const second = await ask(opened, `Not ${mail} but joe@example.com`, ['[EMAIL_2], ', '[EMAIL_1]'], 'r2')
    expect(second).toMatchObject({ up: 'Not [EMAIL_1] but [EMAIL_2]', said: `joe@example.com, ${mail}` })
    const third = await ask(opened, 'go on', ['[EMA', 'IL_1] [EMAIL_3]'], 'r3')
    expect(third).toMatchObject({ up: 'go on', said: `${mail} [EMAIL_3]` })
    opened.client.send(create('call'))
    await opened.far.next()
    const slot = { item_id: 'f', output_index: 0 }
    for (const piece of ['{"to":"[EMAIL', '_1]"}'])
      opened.far.send({ type: 'response.function_call_arguments.delta', ...slot, delta: piece })
    opened.far.send({ type: 'response.function_call_arguments.done', ...slot, arguments: '{"to":"[EMAIL_1]"}' })
    const events = await until(opened.client, 'response.function_call_arguments.done')
    expect(events.map(({ delta: text }) => text ?? '').join('')).toBe(`{"to":"${mail}"}`)
    expect(events.at(-1)?.arguments).toBe(`{"to":"${mail}"}`)
    opened.client.socket.close(1000)
  })

  it('are none that the client wrote itself, in this turn or before', async () => {
    const opened = await connect('returns', { input: 'What is [EMAIL_1]?' })
    for (const event of answer(['No idea'])) opened.far.send(event)
    await until(opened.client, 'response.completed')
    const second = await ask(opened, `${mail} [EMAIL_2]`, ['[EMAIL_1] [EMAIL_2] [EMAIL_3]'], 'r2')
    expect(second).toMatchObject({ up: '[EMAIL_3] [EMAIL_2]', said: `[EMAIL_1] [EMAIL_2] ${mail}` })
    opened.client.socket.close(1000)
  })

  it('never give back what was redacted in an answer', async () => {
    const opened = await connect('both', { input: `I am ${mail}` })
    for (const event of answer(['And boss@example.com?'])) opened.far.send(event)
    expect(joined(await until(opened.client, 'response.completed'))).toBe('And [EMAIL_2]?')
    const second = await ask(opened, 'Who is [EMAIL_2]?', ['[EMAIL_2], not [EMAIL_1]'], 'r2')
    expect(second.said).toBe(`[EMAIL_2], not ${mail}`)
    opened.client.socket.close(1000)
  })
})

describe('the SDK on a Responses socket', () => {
  it('puts together what rules leave of two turns', async () => {
    await plane.changeKey({ policyId: 'pol_patterns' })
    const socket = new ResponsesWS(new OpenAI({ apiKey: plane.key, baseURL: `${plane.baseUrl}/v1` }))
    let far: End | null = null
    for (const turn of [1, 2]) {
      let said = ''
      const done = new Promise<string>((resolve, reject) => {
        socket.on('error', reject)
        socket.on('response.output_text.delta', ({ delta: piece }) => (said += piece))
        socket.on('response.completed', () => resolve(said))
      })
      socket.send({ type: 'response.create', model: 'm', input: `It is ${secret}` })
      far ??= (await provider.accepted()).end
      expect(await far.nextJson()).toMatchObject({ input: 'It is [P_1]' })
      for (const event of answer(['So ', ...secret, '!'], `r${turn}`)) far.send(event)
      expect(await done).toBe('So [P_1]!')
    }
    socket.close()
  })

  it('is told of a blocked prompt, and goes on', async () => {
    await plane.changeKey({ policyId: 'pol_refuses' })
    const socket = new ResponsesWS(new OpenAI({ apiKey: plane.key, baseURL: `${plane.baseUrl}/v1` }))
    const failed = new Promise<Error>((resolve) => socket.on('error', resolve))
    socket.send({ type: 'response.create', model: 'm', input: secret })
    expect((await failed).message).toContain('does not allow a provider key in input')
    socket.send({ type: 'response.create', model: 'm', input: 'hello' })
    const { end: far } = await provider.accepted()
    expect(await far.nextJson()).toMatchObject({ input: 'hello' })
    socket.close()
  })
})

describe('an answer on a Responses socket', () => {
  const text = `It is ${secret}, as asked.`
  const hidden = 'It is [KEY_1], as asked.'

  it('is redacted as the whole text is, at whichever letter a secret is cut', async () => {
    for (const at of [...text].keys()) {
      const { client, far } = await connect('masks')
      for (const event of answer([text.slice(0, at), text.slice(at)])) far.send(event)
      const events = await until(client, 'response.completed')
      expect(joined(events)).toBe(hidden)
      const all = JSON.stringify(events)
      expect(all).not.toMatch(/sk-proj|Abc123|Ghi789/)
      expect(all.split(`"text":"${hidden}"`)).toHaveLength(5)
      client.socket.close(1000)
      await once(client.socket, 'close')
    }
  })

  it('comes letter by letter, and each turn of a connection is whole', async () => {
    const { client, far } = await connect('masks')
    for (const turn of [1, 2, 3]) {
      for (const event of answer([...text], `r${turn}`)) far.send(event)
      expect(joined(await until(client, 'response.completed'))).toBe(hidden)
      client.send(create('more'))
      await far.next()
    }
    client.socket.close(1000)
  })

  it('that a rule blocks ends its turn; nothing more of it passes, and the next one does', async () => {
    const { client, far, signals } = await connect('blocks')
    const [begun, ...rest] = answer(['Yes. ', secret, ' and more'])
    far.send(begun ?? {})
    for (const event of rest) far.send(event)
    const events = await until(client, 'error')
    expect(joined(events)).toBe('Yes. ')
    expect(events.at(-1)).toMatchObject({
      status: 403,
      error: { code: 'policy_denied', message: expect.stringContaining('the rest of it is withheld') },
    })
    client.send(create('again'))
    expect(await far.nextJson()).toMatchObject({ input: 'again' })
    for (const event of answer(['Fine.'], 'r2')) far.send(event)
    const next = await until(client, 'response.completed')
    expect([next[0]?.type, joined(next)]).toEqual(['response.created', 'Fine.'])
    expect(await signals()).toMatchObject([{ rule: 'content.block', verdict: 'deny', data: { on: 'answer' } }])
  })

  it('holds the arguments of a tool until all of them were looked at', async () => {
    const { client, far } = await connect('blocks')
    const slot = { item_id: 'f', output_index: 0 }
    far.send({ type: 'response.created', response: { id: 'r' } })
    for (const piece of ['{"a":"fine","k":"', 'sk-proj-Abc1', '23Def456Ghi789"}'])
      far.send({ type: 'response.function_call_arguments.delta', ...slot, delta: piece })
    far.send({ type: 'response.function_call_arguments.done', ...slot, arguments: `{"a":"fine","k":"${secret}"}` })
    const events = await until(client, 'error')
    expect(events.map(({ delta: piece }) => piece ?? '').join('')).toBe('')
    client.socket.close(1000)
  })

  it('an error ends no text of it: what follows is not taken for another', async () => {
    const { client, far } = await connect('masks')
    const [begun] = answer([])
    const error = { type: 'error', error: { code: 'bad', message: `No ${secret}` } }
    for (const event of [begun ?? {}, delta('sk-proj-Abc123'), error, delta('Def456Ghi789'), completed(secret)])
      far.send(event)
    const events = await until(client, 'response.completed')
    expect(JSON.stringify(events)).not.toMatch(/Abc123|Ghi789/)
    expect(joined(events)).toBe('[KEY_1]')
    client.socket.close(1000)
  })

  it('of a blocked turn stays withheld behind an error; an error of the next turn passes', async () => {
    const { client, far } = await connect('blocks')
    const error = { type: 'error', error: { code: 'bad', message: 'No' } }
    const [begun] = answer([])
    for (const event of [begun ?? {}, delta(`${secret} `), error, delta('tail')]) far.send(event)
    await until(client, 'error')
    client.send(create('again'))
    await far.next()
    for (const event of [delta('tail'), { ...error, error: { code: 'worse', message: 'No' } }]) far.send(event)
    expect(await client.nextJson()).toMatchObject({ error: { code: 'worse' } })
    client.socket.close(1000)
  })

  it('of several responses at once is looked at by its own stream', async () => {
    const { client, far } = await connect('blocks', { stream_id: 'a' })
    client.send(create('b', { stream_id: 'b' }))
    await far.next()
    const [begun] = answer([])
    const of = (stream_id: string, event: object | undefined) => far.send({ ...event, stream_id })
    for (const id of ['a', 'b']) of(id, begun)
    of('a', delta('sk-proj-Abc123'))
    of('b', delta('Hello'))
    of('a', delta('Def456Ghi789 '))
    of('a', delta('tail'))
    of('b', completed('Hello'))
    const events = await until(client, 'response.completed')
    expect(events.map(({ type, stream_id }) => [type, stream_id])).toEqual([
      ['response.created', 'a'],
      ['response.created', 'b'],
      ['response.output_text.delta', 'a'],
      ['response.output_text.delta', 'b'],
      ['error', 'a'],
      ['response.completed', 'b'],
    ])
    expect(JSON.stringify(events)).not.toContain('Abc123')
    client.socket.close(1000)
  })

  it('larger than an event may be, or no JSON, is refused', async () => {
    const { client, far } = await connect('masks')
    far.send(delta('x'.repeat(1024 * 1024)))
    expect(await client.nextJson()).toMatchObject({ type: 'error', error: { code: 'policy_denied' } })
    for (const event of answer(['x'], 'r2')) far.send(event)
    await until(client, 'response.completed')
    far.socket.send('sk-proj')
    expect(await client.nextJson()).toMatchObject({ type: 'error', error: { code: 'policy_denied' } })
    client.socket.close(1000)
  })

  it('passes byte for byte where there is nothing to find, and without rules', async () => {
    for (const policy of ['masks', 'none']) {
      const { client, far, signals } = await connect(policy)
      const frame = '{ "type" : "response.output_text.delta", "delta":"\\u0041b" , "n":1.0}'
      far.socket.send(frame)
      expect((await client.next()).text).toBe(frame)
      expect(await signals()).toEqual([])
    }
  })
})
