import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answer, completed, create, delta, joined, openRulesStage, secret, until } from '../../support/rules-stage.ts'

let stage: Awaited<ReturnType<typeof openRulesStage>>
beforeAll(async () => {
  stage = await openRulesStage()
})
afterAll(() => stage.stop())
const connect = (policy: string, more?: object) => stage.connect(policy, more)

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
