import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { loadInput } from '../../src/admin/contract/load-input.ts'
import { listOperations } from '../../src/admin/contract/operations.ts'
import { listedKindSettings } from '../../src/admin/contract/providers/kind-settings.ts'
import type { recordShape } from '../../src/admin/contract/requests/record.ts'
import { listSteps } from '../../src/admin/contract/requests/request-steps.ts'
import { describeRecord, summarizeRecord } from '../../src/admin/contract/requests/what-happened.ts'
import { kindSchema } from '../../src/admin/handlers/providers/kind-schema.ts'
import { openApiDocument } from '../../src/admin/open-api.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { providerKinds } from '../../src/providers/index.ts'
import { sampleRecord } from '../support/sample-record.ts'

const operations = listOperations()

describe('every operation', () => {
  it('has a name of its own, and is in the contract', () => {
    const names = operations.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(names).toEqual(
      expect.arrayContaining(['status', 'providers.credentials.add', 'requests.tail', 'keys.revoke']),
    )
  })

  it('has the same schema where its area is loaded alone', async () => {
    for (const { name, input } of operations) expect([name, (await loadInput(name)) === input]).toEqual([name, true])
    for (const name of ['keys', 'keys.nothing', 'nothing', 'toString', 'status.more'])
      await expect(loadInput(name)).rejects.toThrow(`there is no operation ${name}`)
  })

  it.each(operations.map((one) => [one.name, one] as const))('%s says what it is', (name, { meta, input, path }) => {
    expect(meta.summary).toMatch(/^[A-Z].*[^.]$/)
    expect(meta.examples?.length).toBeGreaterThan(0)
    expect(meta.examples?.some((line) => line.startsWith(path.join(' ')))).toBe(true)
    expect(meta.effect === 'danger').toBe(meta.confirm !== undefined)
    for (const field of meta.positional ?? []) expect(input.shape).toHaveProperty(field)
    for (const [, field] of meta.confirm?.matchAll(/\{(\w+)\}/g) ?? []) expect(input.shape).toHaveProperty(field ?? '')
    for (const [field, schema] of Object.entries(input.shape)) {
      expect((schema as z.ZodType).meta()?.description, `${name} ${field}`).toMatch(/^[A-Z]/)
    }
  })

  it('takes no field that it does not name', () => {
    for (const { input, name } of operations) {
      expect(
        input.safeParse({ nonsense: 1 }).error?.issues.some(({ code }) => code === 'unrecognized_keys'),
        name,
      ).toBe(true)
    }
  })

  it('names its output in snake case', () => {
    for (const { output, name, meta } of operations) {
      if (meta.show.as === 'live' || !(output instanceof z.ZodType)) continue
      const row = output instanceof z.ZodArray ? output.element : output
      if (!(row instanceof z.ZodObject)) throw new Error(`${name} answers with no object`)
      for (const field of Object.keys(row.shape)) expect(field, name).toMatch(/^[a-z][a-z0-9_]*$/)
    }
  })

  it('shows columns that its output has', () => {
    for (const { output, name, meta } of operations) {
      if (meta.show.as !== 'table' || !(output instanceof z.ZodArray)) continue
      const outer = output.element
      if (!(outer instanceof z.ZodObject)) throw new Error(`${name} lists no objects`)
      // Several lists in each object, whose rows follow one another: the first has all members.
      const [inner] = meta.show.rows?.[0]?.split(' ') ?? []
      const list: unknown = inner === undefined ? null : outer.shape[inner]
      const row = list instanceof z.ZodArray && list.element instanceof z.ZodObject ? list.element : outer
      for (const { field } of meta.show.columns) expect(row.shape, name).toHaveProperty(field.split('.')[0] ?? '')
    }
  })

  it('stands in the OpenAPI document', async () => {
    const document = await openApiDocument('1.2.3')
    for (const { path } of operations) expect(document.paths).toHaveProperty([`/${path.join('/')}`, 'post'])
  })
})

describe("the kinds' own settings", () => {
  const add = operations.find(({ name }) => name === 'providers.add')
  const edit = operations.find(({ name }) => name === 'providers.edit')
  const global = ['project', 'environment', 'output', 'json', 'utc', 'yes', 'dataDir', 'wait', 'verbose', 'help']

  /** What the kinds declare, in the form of the contract's rows. */
  function declared(): Record<string, object> {
    const own = new Set<string>(listedKindSettings.map(({ field }) => field))
    const shapes = [...Object.keys(add?.input.shape ?? {}), ...Object.keys(edit?.input.shape ?? {})]
    const taken = new Set([...shapes.filter((name) => !own.has(name)), ...global])
    const camel = (text: string) => text.replace(/[-_](.)/g, (_, letter: string) => letter.toUpperCase())
    const rows: Record<string, { kinds: string[] }> = {}
    for (const { kind, settings } of providerKinds) {
      for (const [setting, schema] of Object.entries(z.toJSONSchema(kindSchema({ settings })).properties ?? {})) {
        if (typeof schema === 'boolean') throw new Error(`${kind} takes anything as ${setting}`)
        const field = taken.has(camel(setting)) ? camel(`${kind}_${setting}`) : camel(setting)
        const kinds = [...(rows[field]?.kinds ?? []), kind]
        rows[field] = { setting, type: schema.type, description: schema.description, ...rows[field], kinds } as never
      }
    }
    return rows
  }

  it('are those that the kinds declare', () => {
    const rows = listedKindSettings.map(({ field, flag: _, ...row }) => [field, row])
    expect(Object.fromEntries(rows)).toEqual(declared())
  })

  it('take what the kind names, and nothing else', () => {
    const settings = {
      region: { description: 'Where it runs', choices: ['eu', 'us'] },
      team: { description: 'Who pays' },
    }
    const schema = kindSchema({ settings })
    for (const good of [{}, { region: 'eu' }, { region: 'us', team: 'a' }])
      expect(schema.safeParse(good).success).toBe(true)
    for (const bad of [{ nonsense: 1 }, { region: 'mars' }, { team: '' }, { team: 1 }])
      expect(schema.safeParse(bad).success).toBe(false)
  })

  it('are fields of add and edit, under flags of their names', () => {
    for (const { field, flag } of listedKindSettings) {
      expect(add?.input.shape).toHaveProperty(field)
      expect(edit?.input.shape).toHaveProperty(field)
      expect(flag).toMatch(/^--[a-z]+(-[a-z]+)*$/)
    }
  })
})

describe('the request record', () => {
  it('is what core says it is', () => {
    expectTypeOf<z.infer<typeof recordShape>>().toExtend<RequestRecord>()
    expectTypeOf<RequestRecord>().toExtend<z.infer<typeof recordShape>>()
    expectTypeOf<keyof z.infer<typeof recordShape>>().toEqualTypeOf<keyof RequestRecord>()
  })

  const times = { started_ms: 0, connected_ms: 3, first_byte_ms: 200 }
  const attempt = { ...times, message: null, cost: null, upstream_model: 'gpt-4o' }

  it('tells what happened in sentences, each thing once, names as they are written', () => {
    const record = sampleRecord({
      model: 'gpt-4o',
      routing_signals: [
        { rule: 'route', verdict: 'taken', text: 'Matched route gpt-4o-* in default/production.' },
        { rule: 'target', verdict: 'taken', text: 'openai (gpt-4o): ready.' },
        { rule: 'target', verdict: 'taken', text: 'azure (eu): ready.' },
        { rule: 'target', verdict: 'skipped', text: 'local (llama): failing since 14:02 UTC: unreachable.' },
        { rule: 'fallback', verdict: 'note', text: 'openai/gpt-4o: answered 429 and asked to wait 20 s; fell back.' },
      ],
      policy_signals: [
        { rule: 'key', verdict: 'pass', text: 'The key is valid.' },
        { rule: 'model', verdict: 'flag', text: 'The model has no price' },
      ],
      attempts: [
        {
          ...attempt,
          provider: 'openai',
          status: 429,
          outcome: 'fallback',
          ended_ms: 210,
          message: 'answered 429 and asked to wait 20 s',
        },
        {
          ...attempt,
          provider: 'azure',
          upstream_model: 'eu',
          status: 200,
          outcome: 'answered',
          started_ms: 210,
          first_byte_ms: 510,
          ended_ms: 1400,
        },
      ],
      losses: ['seed'],
      duration_ms: 1612,
    })
    expect(describeRecord(record)).toEqual([
      'Matched route gpt-4o-* in default/production.',
      'Skipped local (llama): failing since 14:02 UTC: unreachable.',
      'Tried openai: 429 after 210 ms, asked to wait 20 s.',
      'Fell back to azure (eu), which responded after 300 ms.',
      'The model has no price.',
      'Lost in translation: seed.',
      'Ended with 200 after 1.6 s.',
    ])
  })

  it('tells what became of signed reasoning, in words', () => {
    const told = (reasoning: RequestRecord['reasoning']) => describeRecord(sampleRecord({ reasoning })).slice(0, -1)
    expect(told(null)).toEqual([])
    expect(told('carried')).toEqual(['The client brought back the signed reasoning of earlier turns.'])
    expect(told('attached')[0]).toContain('The gateway put back')
    expect(told('missing')[0]).toContain('No signed reasoning was found')
    expect(told('stripped')[0]).toContain('was stripped')
  })

  it('tells of a second target that was asked while the first was silent, and of a copy', () => {
    const price = { price_version: 'v1' }
    const slow = {
      ...attempt,
      provider: 'slow',
      status: null,
      outcome: 'cancelled',
      first_byte_ms: null,
      ended_ms: 300,
    }
    const quick = { ...attempt, provider: 'quick', status: 200, outcome: 'answered', started_ms: 120, ended_ms: 900 }
    // The last is the one that answered, whichever began first.
    const first = [
      { ...slow, cost: { usd: 0.02, ...price } },
      { ...quick, first_byte_ms: 300, cost: { usd: 0.1, ...price } },
    ]
    const text = 'Sent to two targets after 120 ms of silence: quick/gpt-4o answered first.'
    const signal = { rule: 'hedge', verdict: 'note', text } as const
    const hedged = sampleRecord({ model: 'gpt-4o', attempts: first, routing_signals: [signal] })
    expect(describeRecord(hedged).slice(0, -1)).toEqual([
      text,
      'Tried slow, which was cancelled after 300 ms, since the other was faster (charged $0.02).',
      'Asked quick as well, which responded after 180 ms.',
    ])
    expect(summarizeRecord(hedged)).toContain('200 after hedging')
    const second = [
      { ...quick, status: null, outcome: 'cancelled', first_byte_ms: null, ended_ms: 200 },
      { ...slow, status: 200, outcome: 'answered', first_byte_ms: 200, ended_ms: 900 },
    ]
    expect(describeRecord(sampleRecord({ model: 'gpt-4o', attempts: second })).slice(0, -1)).toEqual([
      'Tried slow, which responded after 200 ms.',
      'Asked quick as well, which was cancelled after 80 ms, since the other was faster.',
    ])
    const copy = sampleRecord({ model: 'gpt-4o', shadow_of: 'req_01', attempts: [quick] })
    expect(describeRecord(copy)[0]).toBe('Copy of req_01 for comparison; the client did not wait for it.')
  })

  it('tells of waits, of what never answered, and of an error that was passed on', () => {
    const tried = (change: Partial<RequestRecord['attempts'][number]>) => ({
      ...attempt,
      provider: 'openai',
      status: null,
      outcome: 'answered',
      ended_ms: 20,
      ...change,
    })
    const unreachable = 'The provider could not be reached: connection refused. Try again.'
    const attempts = [
      tried({ outcome: 'provider_unreachable', first_byte_ms: null, message: unreachable }),
      tried({ outcome: 'aborted', started_ms: 20.2, ended_ms: 30 }),
      tried({ outcome: 'passed', status: 503, started_ms: 280, ended_ms: 290, message: 'answered 503' }),
    ]
    expect(describeRecord(sampleRecord({ model: 'gpt-4o', attempts })).slice(0, -1)).toEqual([
      'Tried openai: no response after 20 ms (The provider could not be reached: connection refused).',
      'Tried openai again: cancelled after 9.8 ms.',
      'Waited 250 ms and tried openai again: 503 after 10 ms; its response was passed on.',
    ])
  })

  it('tells a response that broke off from none, waits and skips in their order, and what made a target be skipped', () => {
    const dead = { ...attempt, provider: 'dead', upstream_model: 'm', status: null, first_byte_ms: null }
    const skip = { provider: 'dead', upstream_model: 'm', code: 'open' }
    const paused = { rule: 'target', verdict: 'skipped', text: 'dead (m): paused for 5 s.', data: skip } as const
    const waited = sampleRecord({
      model: 'smart',
      provider: 'dead',
      upstream_model: 'm',
      status: 502,
      tokens: null,
      error: { code: 'provider_unreachable', origin: 'network', message: 'Refused. Try again later.' },
      attempts: [{ ...dead, outcome: 'provider_unreachable', started_ms: 6, ended_ms: 18, message: 'Refused.' }],
      timeline: [
        { event: 'wait', at_ms: 18 },
        { event: 'skipped', at_ms: 257 },
      ],
      routing_signals: [{ ...paused, data: { ...skip, at_ms: 257 } }],
      duration_ms: 257,
    })
    expect(describeRecord(waited)).toEqual([
      'Tried dead (m): no response after 12 ms (Refused).',
      'Waited 239 ms and skipped dead (m): paused for 5 s.',
      'Ended with 502 provider_unreachable after 257 ms. Cause: network. Refused. Try again later.',
    ])
    expect(listSteps(waited).map(({ kind, startMs }) => [kind, startMs])).toEqual([
      ['attempt', 6],
      ['wait', 18],
      ['skip', 257],
    ])
    const other = {
      ...dead,
      provider: 'other',
      outcome: 'answered',
      started_ms: 257.1,
      ended_ms: 270,
      first_byte_ms: 269,
    }
    const moved = { ...waited, attempts: [...waited.attempts, other] }
    expect(listSteps(moved).map(({ kind, startMs }) => [kind, startMs])).toEqual([
      ['attempt', 6],
      ['wait', 18],
      ['skip', 257],
      ['attempt', 257.1],
    ])
    expect(summarizeRecord(waited)).toBe('smart → dead/m · 502 provider_unreachable · 257 ms · key ci')

    const notReady = { code: 'provider_not_ready', origin: 'gateway', message: 'No provider is ready' } as const
    const refused = sampleRecord({ status: 503, error: notReady, routing_signals: [paused], duration_ms: 1 })
    expect(describeRecord(refused)).toEqual([
      'Skipped dead (m): paused for 5 s.',
      'Ended with 503 provider_not_ready after 1 ms. Cause: earlier failures of dead. No provider is ready.',
    ])

    const used = { code: 'budget_exceeded', origin: 'policy', message: 'It is used up for the key app.' } as const
    const denied = {
      rule: 'budget',
      verdict: 'deny',
      text: 'It is used up for key:default/production/app.',
      data: {},
    } as const
    expect(
      describeRecord(sampleRecord({ status: 429, error: used, policy_signals: [denied], duration_ms: 1 })),
    ).toEqual(['Ended with 429 budget_exceeded after 1 ms. Cause: policy. It is used up for the key app.'])

    const reset = { code: 'provider_bad_response', origin: 'provider', message: 'The connection was reset.' } as const
    const begun = { ...attempt, provider: 'demo', started_ms: 7, first_byte_ms: 19, ended_ms: 73 }
    const cut = sampleRecord({
      model: 'gpt-4o',
      error: reset,
      attempts: [
        {
          ...begun,
          status: null,
          outcome: reset.code,
          started_ms: 1,
          first_byte_ms: 2,
          ended_ms: 5,
          message: reset.message,
        },
        { ...begun, status: 200, outcome: 'answered' },
      ],
      duration_ms: 73,
    })
    expect(describeRecord(cut)).toEqual([
      'Tried demo: broke off after 4 ms (The connection was reset).',
      'Waited 2 ms and tried demo again, which responded after 12 ms and broke off after 66 ms.',
      'Ended with 200 provider_bad_response after 73 ms. Cause: provider. The connection was reset.',
    ])
    // The attempt may have the code as its outcome.
    const coded = {
      ...cut,
      attempts: cut.attempts.map((one, index) => (index === 1 ? { ...one, outcome: reset.code } : one)),
    }
    expect(describeRecord(coded)).toEqual(describeRecord(cut))
    expect(summarizeRecord(coded)).toBe(summarizeRecord(cut))
    const wrong = { ...reset, message: "The provider's answer is not what it promised: no JSON." }
    expect(describeRecord({ ...coded, error: wrong })[1]).toBe(
      'Waited 2 ms and tried demo again: 200, unusable response after 66 ms.',
    )
    expect(summarizeRecord(cut)).toBe(
      'gpt-4o → openai/gpt-4o-mini · 200 provider_bad_response after retry, broke off · 73 ms · 10 → 5 tokens · key ci',
    )
  })

  it('does not say the cause of a refusal twice', () => {
    const error = { code: 'invalid_key', origin: 'client', message: 'This key was revoked.' } as const
    const signal = { rule: 'key', verdict: 'deny', text: error.message } as const
    expect(describeRecord(sampleRecord({ status: 401, error, policy_signals: [signal], duration_ms: 1 }))).toEqual([
      'Ended with 401 invalid_key after 1 ms. Cause: client. This key was revoked.',
    ])
  })

  it('says whose fault an end was, and that some have none yet', () => {
    const error = { code: 'rate_limited', origin: 'policy', message: 'Too many requests.' } as const
    expect(describeRecord(sampleRecord({ status: 429, error, duration_ms: 1 })).at(-1)).toBe(
      'Ended with 429 rate_limited after 1 ms. Cause: policy. Too many requests.',
    )
    expect(describeRecord(sampleRecord({ state: 'admitted' })).at(-1)).toBe('In progress.')
    expect(describeRecord(sampleRecord({ state: 'interrupted' })).at(-1)).toMatch(/^Interrupted/)
  })

  it('says that the gateway answered by itself, but not of a refusal', () => {
    const own = 'The gateway answered the request itself; no provider was called.'
    expect(describeRecord(sampleRecord({ status: 200, duration_ms: 1, attempts: [], provider: null }))).toEqual([
      own,
      'Ended with 200 after 1 ms.',
    ])
    const batch = sampleRecord({ status: 200, duration_ms: null, attempts: [], provider: 'openai' })
    expect(describeRecord(batch)).toEqual(['Ended with 200.'])
    const error = { code: 'invalid_key', origin: 'client', message: 'No.' } as const
    expect(describeRecord(sampleRecord({ status: 401, error, attempts: [], provider: null }))).not.toContain(own)
    expect(
      describeRecord(sampleRecord({ state: 'admitted', status: null, attempts: [], provider: null })),
    ).not.toContain(own)
  })
})
