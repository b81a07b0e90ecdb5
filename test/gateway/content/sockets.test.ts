import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answer, completed, create, joined, mail, openRulesStage, secret, until } from '../../support/rules-stage.ts'
import type { End } from '../../support/sockets.ts'

const file = 'iVBORw0KGgo'.repeat(40)

let stage: Awaited<ReturnType<typeof openRulesStage>>
beforeAll(async () => {
  stage = await openRulesStage()
})
afterAll(() => stage.stop())
const connect = (policy: string, more?: object) => stage.connect(policy, more)

describe('a prompt on a Responses socket', () => {
  it('is redacted, and no other byte of its frame changes', async () => {
    const { client, signals } = await stage.open('hides')
    const frame = (key: string) =>
      `{ "type":"response.create", "model" : "m","instructions":"The key is ${key}, mind",  "input": [` +
      `{"type":"function_call","call_id":"c","name":"f","arguments":"{\\"k\\": \\"${key}\\"}"},` +
      `{"type":"function_call_output","call_id":"c","output":"${key}"}], "é":1.0 }`
    client.socket.send(frame(secret))
    const { end } = await stage.provider.accepted()
    expect((await end.next()).text).toBe(frame('[KEY_1]'))
    expect(await signals()).toMatchObject([{ rule: 'content.redact', data: { on: 'prompt', places: 3 } }])
  })

  it('keeps the name of its stream, by which its client knows the answer', async () => {
    const { client } = await stage.open('hides')
    client.send(create(secret, { stream_id: secret }))
    const { end } = await stage.provider.accepted()
    expect(await end.nextJson()).toMatchObject({ input: '[KEY_1]', stream_id: secret })
  })

  it('is refused by a block rule before a provider is asked, and the connection goes on', async () => {
    const { client, signals } = await stage.open('refuses')
    for (const _turn of [1, 2]) {
      client.send(create([{ role: 'user', content: `It is ${secret}` }]))
      expect(await client.nextJson()).toMatchObject({
        ...{ type: 'error', status: 403 },
        error: { code: 'policy_denied', param: 'input[0].content', message: expect.not.stringContaining('sk-') },
      })
    }
    client.send(create('hello'))
    const { end } = await stage.provider.accepted()
    expect(await end.nextJson()).toMatchObject({ input: 'hello' })
    client.send({ ...create(secret), stream_id: 's' })
    expect(await client.nextJson()).toMatchObject({ type: 'error', stream_id: 's' })
    end.send(completed('fine'))
    expect(await client.nextJson()).toMatchObject({ type: 'response.completed' })
    expect(await signals()).toMatchObject([{ rule: 'content.block', verdict: 'deny', data: { places: 3 } }])
  })

  it('counts in the limits of requests also where it is refused', async () => {
    const { client } = await stage.open('scarce')
    const codes: unknown[] = []
    for (const _turn of [1, 2, 3]) {
      client.send(create(secret))
      codes.push(await client.nextJson())
    }
    expect(codes).toMatchObject(
      ['policy_denied', 'policy_denied', 'rate_limited'].map((code) => ({ type: 'error', error: { code } })),
    )
    client.socket.close(1000)
  })

  it('has its model renamed beside what is redacted', async () => {
    const { client } = await stage.open('hides')
    client.send({ ...create(secret), model: 'renamed' })
    const { end } = await stage.provider.accepted()
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

  it('is looked at alone where no rule looks at answers, however large these are', async () => {
    const { client, far, signals } = await connect('hides')
    const large = { ...completed('x'.repeat(1_200_000)), image: { type: 'image_generation_call', result: file } }
    far.send(large)
    expect(await client.nextJson()).toEqual(large)
    expect(await signals()).toEqual([])
  })

  it('is looked at by the rules that there are by then', async () => {
    const { client, far } = await connect('none')
    client.send(create(secret))
    expect(await far.nextJson()).toMatchObject({ input: secret })
    await stage.plane.changeKey({ policyId: 'pol_hides' })
    client.send(create(secret))
    expect(await far.nextJson()).toMatchObject({ input: '[KEY_1]' })
    await stage.plane.changeKey({ policyId: 'pol_none' })
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
    await stage.plane.changeKey({ policyId: 'pol_patterns' })
    const socket = new ResponsesWS(new OpenAI({ apiKey: stage.plane.key, baseURL: `${stage.plane.baseUrl}/v1` }))
    let far: End | null = null
    for (const turn of [1, 2]) {
      let said = ''
      const done = new Promise<string>((resolve, reject) => {
        socket.on('error', reject)
        socket.on('response.output_text.delta', ({ delta: piece }) => (said += piece))
        socket.on('response.completed', () => resolve(said))
      })
      socket.send({ type: 'response.create', model: 'm', input: `It is ${secret}` })
      far ??= (await stage.provider.accepted()).end
      expect(await far.nextJson()).toMatchObject({ input: 'It is [P_1]' })
      for (const event of answer(['So ', ...secret, '!'], `r${turn}`)) far.send(event)
      expect(await done).toBe('So [P_1]!')
    }
    socket.close()
  })

  it('is told of a blocked prompt, and goes on', async () => {
    await stage.plane.changeKey({ policyId: 'pol_refuses' })
    const socket = new ResponsesWS(new OpenAI({ apiKey: stage.plane.key, baseURL: `${stage.plane.baseUrl}/v1` }))
    const failed = new Promise<Error>((resolve) => socket.on('error', resolve))
    socket.send({ type: 'response.create', model: 'm', input: secret })
    expect((await failed).message).toContain('does not allow a provider key in input')
    socket.send({ type: 'response.create', model: 'm', input: 'hello' })
    const { end: far } = await stage.provider.accepted()
    expect(await far.nextJson()).toMatchObject({ input: 'hello' })
    socket.close()
  })
})
