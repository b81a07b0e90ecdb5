import { describe, expect, it } from 'vitest'
import { entry, litellm, portkey, reasons } from './convert.ts'

describe('limits for all who call', () => {
  const policies = (settings: object) => litellm({ model_list: [entry('gpt', {})], ...settings }).policies

  it.each([
    ['1d', { budget_usd_day: 5 }],
    ['24h', { budget_usd_day: 5 }],
    ['30d', { budget_usd_month: 5 }],
    ['1mo', { budget_usd_month: 5 }],
  ])('a budget of %s', (budget_duration, fields) => {
    expect(policies({ litellm_settings: { max_budget: 5, budget_duration } })).toEqual([
      { name: 'litellm', attach: ['workspace'], ...fields },
    ])
  })

  it.each([
    ['7d', 'a budget of 7d: a budget is for a day or a month here'],
    [undefined, 'a budget without a period: a budget is for a day or a month here'],
  ])('a budget of %s is reported', (budget_duration, reason) => {
    const converted = litellm({
      model_list: [entry('gpt', {})],
      litellm_settings: { max_budget: 5, budget_duration },
    })
    expect(converted.policies).toEqual([])
    expect(reasons(converted)).toEqual([reason])
  })

  it('makes no policy of nothing, and none of what is no number', () => {
    expect(policies({ litellm_settings: { max_budget: 'os.environ/BUDGET', budget_duration: '1d' } })).toEqual([])
    expect(policies({ general_settings: { allowed_ips: ['everyone'], max_request_size_mb: 0 } })).toEqual([])
  })
})

describe('the share and the limit of a deployment', () => {
  const azure = (host: string, params: object) =>
    entry('gpt', {
      model: 'azure/gpt',
      api_base: `https://${host}.openai.azure.com`,
      api_key: 'os.environ/KEY',
      ...params,
    })
  const weights = (...params: object[]) =>
    litellm({ model_list: params.map((one, at) => azure(`h${at}`, one)) }).routes[0]?.targets.map(
      ({ weight = 1 }) => weight,
    )

  it('is its weight, or else its requests, or its tokens a minute, if all have them', () => {
    expect(weights({ rpm: 900 }, { rpm: 600 })).toEqual([3, 2])
    expect(weights({ tpm: 100 }, { tpm: 300, rpm: 1 })).toEqual([1, 3])
    expect(weights({ rpm: 1.5 }, { rpm: 3 })).toEqual([1.5, 3])
    expect(weights({ rpm: 900 }, { rpm: 600, weight: 5 })).toEqual([1, 5])
    expect(weights({ rpm: 900 }, {})).toEqual([1, 1])
  })

  it.each([
    { routing_strategy: 'usage-based-routing-v2' },
    { enable_pre_call_checks: true },
    { optional_pre_call_checks: ['enforce_model_rate_limits'] },
  ])('limits its provider where the file enforces it: %j', (router_settings) => {
    const { providers } = litellm({
      model_list: [azure('a', { rpm: 9, tpm: 90 }), azure('b', { rpm: 0.5 })],
      router_settings,
    })
    expect(providers.map(({ rpm, tpm }) => [rpm, tpm])).toEqual([
      [9, 90],
      [undefined, undefined],
    ])
  })

  it('limits no provider that serves two', () => {
    const converted = litellm({
      model_list: [entry('one', { rpm: 9 }), entry('two', { rpm: 8 })],
      router_settings: { enable_pre_call_checks: true },
    })
    expect(converted.providers).toEqual([expect.not.objectContaining({ rpm: expect.anything() })])
    expect(reasons(converted).filter((one) => one.startsWith('rpm'))).toEqual([
      "rpm: a limit is of a provider's whole account here",
      "rpm: a limit is of a provider's whole account here",
    ])
  })
})

describe('the cache', () => {
  const cached = (cache_params: object, cache = true) => {
    const { routes, left } = litellm({ model_list: [entry('gpt', {})], litellm_settings: { cache, cache_params } })
    return [routes[0]?.cache, ...left.map(({ what, reason }) => `${what}: ${reason}`)]
  }

  it.each([
    [{ ttl: 600 }, ['10m']],
    [{ ttl: 90, type: 's3', supported_call_types: ['acompletion'] }, ['90s']],
    [{}, [undefined, 'cache: the file does not say for how long']],
    [{ ttl: 1e12 }, [undefined, 'cache: the file does not say for how long']],
    [
      { ttl: 600, type: 'redis-semantic' },
      [undefined, 'cache: a route answers the same request again, not a similar one'],
    ],
    [{ ttl: 600, mode: 'default_off' }, [undefined, 'cache: there each request asks for it, here a route has it']],
    [
      { ttl: 600, supported_call_types: ['embedding'] },
      [undefined, 'cache: each route says whether answers are cached'],
    ],
  ])('with %j', (params, expected) => {
    expect(cached(params)).toEqual(expected)
  })

  it('is not kept where it is off', () => {
    expect(cached({ ttl: 600 }, false)).toEqual([undefined])
  })

  it('of Portkey is kept where it says for how long', () => {
    const ages = (cache: object) => portkey({ provider: 'openai', override_params: { model: 'gpt-4o' }, cache })
    expect(ages({ mode: 'simple', max_age: 3600 }).routes[0]?.cache).toBe('1h')
    expect(ages({ mode: 'simple', maxAge: 3600 }).left).toEqual([])
    for (const cache of [{ mode: 'simple' }, { mode: 'semantic', max_age: 60 }, { mode: 'simple', max_age: -1 }]) {
      expect(ages(cache).routes[0]).not.toHaveProperty('cache')
      expect(reasons(ages(cache)).join()).toContain('cache: a route answers the same request again')
    }
  })
})

describe('what is asked after a refusal', () => {
  const chat = (settings: object, ...more: object[]) => {
    const model_list = [entry('chat', {}), entry('large', { model: 'openai/gpt-4.1' }), ...more]
    const converted = litellm({ model_list, router_settings: settings })
    const route = converted.routes.find(({ model }) => model === 'chat')
    return {
      on: route?.fallback_on,
      targets: route?.targets.map((one) => one.upstream_model),
      left: reasons(converted),
    }
  }
  const context_window_fallbacks = [{ chat: ['large'] }]

  it('of a prompt that is too long, and of nothing else', () => {
    expect(chat({ context_window_fallbacks })).toEqual({
      on: ['context_length'],
      targets: ['gpt-4o', 'gpt-4.1'],
      left: [],
    })
  })

  it('also of others, where the same model is asked then', () => {
    const found = chat({ context_window_fallbacks, fallbacks: [{ chat: ['large'] }] })
    expect(found).toEqual({ on: ['default', 'context_length'], targets: ['gpt-4o', 'gpt-4.1'], left: [] })
  })

  it('says so where it is asked after others too', () => {
    const found = chat({ context_window_fallbacks }, entry('chat', { api_key: 'os.environ/OTHER' }))
    expect(found.on).toEqual(['default', 'context_length'])
    expect(found.left).toEqual([
      'fallback of chat to large: a route has one order of targets, so it is asked after other failures too',
    ])
  })

  it('reports a model that is not there', () => {
    const found = chat({ content_policy_fallbacks: [{ '*': ['gone', 'chat'] }] })
    expect(found.on).toBeUndefined()
    expect(found.left).toContain('fallback of chat to gone: no model of that name was converted')
  })

  it.each(['fallbacks', 'context_window_fallbacks'])('reports %s of a model that has no route of its own', (name) => {
    const router_settings = { [name]: [{ 'gpt-4o': ['chat'] }] }
    const converted = litellm({ model_list: [entry('*', { model: 'openai/*' }), entry('chat')], router_settings })
    expect(reasons(converted)).toEqual(['fallback of gpt-4o to chat: no model of that name was converted'])
  })
})
