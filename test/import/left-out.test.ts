import { describe, expect, it } from 'vitest'
import { parseSettingsFile } from '../../src/config/settings-file.ts'
import { convertLitellm } from '../../src/import/litellm.ts'
import { entry, litellm, portkey, reasons } from './convert.ts'

describe('what a route cannot have is left out and reported', () => {
  it.each([-1, 0, 1e12])('a time limit of %d seconds', (timeout) => {
    const converted = litellm({ model_list: [entry('gpt', { timeout })], router_settings: { timeout } })
    expect(converted.routes).toEqual([expect.not.objectContaining({ timeouts: expect.anything() })])
    expect(reasons(converted)).toContain(`a time limit of ${timeout}: a route cannot have it`)
  })

  it('keeps one that it can have, as the shortest text', () => {
    const timeouts = [600, 1.5, 90, '30'].map(
      (timeout) => litellm({ model_list: [entry('gpt', { timeout })] }).routes[0]?.timeouts?.total,
    )
    expect(timeouts).toEqual(['10m', '1500ms', '90s', '30s'])
  })

  it.each([
    ['vertex', { model: 'vertex_ai/gemini-2.5-pro', vertex_project: 'p', api_base: 'https://proxy.example/v1' }],
    ['bedrock', { model: 'bedrock/anthropic.claude-v2', aws_region_name: 'eu-west-1', base_url: 'https://b.example' }],
  ])('an address of a model at %s, whose own follows from its place', (kind, params) => {
    const said = `the address of a model at ${kind}: it follows from the region or location here`
    expect(reasons(litellm({ model_list: [entry('large', params)] }))).toContain(said)
  })

  it('a second configuration of the same name', () => {
    const config = { provider: 'openai', override_params: { model: 'gpt-4o' } }
    const converted = portkey({
      configs: [
        { slug: 'Prod A', config },
        { slug: 'prod-a', config: { ...config, provider: 'anthropic' } },
        { slug: 'other', config },
      ],
    })
    expect(converted.routes.map(({ model }) => model)).toEqual(['prod-a', 'other'])
    expect(reasons(converted)).toContain('another route prod-a: a model name has one route')
  })

  it('a model name that is a pattern where nothing fills it, and only that target', () => {
    const converted = litellm({
      model_list: [entry('gpt', { model: 'openai/*' }), entry('gpt', {}), entry('openai/*', { model: 'openai/*' })],
    })
    expect(converted.routes.map(({ model, targets }) => [model, targets.length])).toEqual([
      ['gpt', 1],
      ['openai/*', 1],
    ])
    expect(reasons(converted).join()).toMatch(/target openai:\* of gpt: .* has a \* that nothing fills/)
  })

  it('patterns of which neither is more exact', () => {
    const converted = litellm({ model_list: [entry('gpt-*', {}), entry('*-mini', {}), entry('*-min', {})] })
    const models = converted.routes.map(({ model }) => model)
    expect(models).toContain('gpt-*')
    expect(models).toContain('*-mini')
    expect(models).not.toContain('*-min')
    expect(reasons(converted).join()).toContain('route *-min: it is as exact as gpt-*')
  })

  it('a name that nobody could type', () => {
    const converted = litellm({ model_list: [entry(' spaced ', {}), entry('zero\u200bwidth', {}), entry('fine', {})] })
    expect(converted.routes.map(({ model }) => model)).toEqual(['fine'])
    expect(converted.left.length).toBe(2)
  })

  it.each([
    ['weight', 'os.environ/WEIGHT'],
    ['order', 'first'],
    ['timeout', 'os.environ/TIMEOUT'],
    ['request_timeout', {}],
    ['stream_timeout', true],
    ['num_retries', 'many'],
    ['max_retries', []],
  ])('%s of a model that is no number but %j', (name, value) => {
    const converted = litellm({ model_list: [entry('gpt', { [name]: value })] })
    expect(converted.routes).toEqual([{ model: 'gpt', targets: [{ provider: 'openai', upstream_model: 'gpt-4o' }] }])
    expect(reasons(converted)).toEqual([`${name}: it is not a number in the file`])
  })

  it('numbers of Portkey that are none', () => {
    const target = { provider: 'openai', weight: 'w', override_params: { model: 'm' } }
    const strategy = { mode: 'loadbalance' }
    const converted = portkey({ strategy, targets: [target], retry: { attempts: 'x' }, request_timeout: 'y' })
    const words = ['weight', 'attempts', 'request_timeout']
    expect(reasons(converted)).toEqual(words.map((word) => `${word}: it is not a number in the file`))
  })

  it('retries beyond what a route can have, and those below none', () => {
    const route = (num_retries: number) => litellm({ model_list: [entry('gpt', { num_retries })] })
    const retry = (attempts: unknown) => portkey({ provider: 'openai', retry: { attempts } })
    for (const convert of [route, retry]) {
      expect([11, 10, 2.4, -1].map((number) => convert(number).routes[0]?.retries)).toEqual([10, 10, 2, 0])
      expect(reasons(convert(10)).join()).not.toContain('retries')
      expect(reasons(convert(11))).toContain('11 retries: a route has at most 10')
    }
  })

  it('retries of one model beyond what a route can have', () => {
    const converted = litellm({ model_list: [entry('gpt', { num_retries: 99 })] })
    expect(converted.routes[0]?.retries).toBe(10)
    expect(reasons(converted)).toEqual(['99 retries: a route has at most 10'])
  })

  it('a second list of fallbacks of the same model, of which LiteLLM takes the first', () => {
    const model_list = ['a', 'b', 'c'].map((name) => entry(name, { model: `openai/${name}` }))
    const converted = litellm({ model_list, router_settings: { fallbacks: [{ a: ['b'] }, { a: ['c'] }] } })
    expect(converted.routes[0]?.targets.map(({ upstream_model }) => upstream_model)).toEqual([undefined, 'b'])
    expect(reasons(converted)).toEqual(['another list of fallbacks of a: the first counts'])
  })

  it('targets that Portkey would never have called', () => {
    const targets = ['a', 'b'].map((model) => ({ provider: 'openai', override_params: { model } }))
    const converted = portkey({ strategy: { mode: 'single' }, targets })
    expect(converted.routes[0]?.targets).toEqual([{ provider: 'openai', upstream_model: 'a' }])
    expect(reasons(converted)).toEqual(['targets after the first: the strategy single uses the first alone'])
    expect(reasons(portkey({ strategy: { mode: 'single' }, targets: targets.slice(0, 1) }))).toEqual([])
  })

  it.each(['conditional', 'roundrobin'])('a strategy %s within a group', (mode) => {
    const targets = ['a', 'b'].map((model) => ({ provider: 'openai', override_params: { model } }))
    const converted = portkey({ strategy: { mode: 'fallback' }, targets: [{ strategy: { mode }, targets }] })
    expect(converted.routes[0]?.targets).toHaveLength(2)
    expect(reasons(converted)).toEqual([`the strategy ${mode}: there is no such strategy here`])
  })

  it('nothing of it twice, however many routes share the setting', () => {
    const converted = litellm({
      model_list: ['a', 'b', 'c'].map((name) => entry(name, {})),
      router_settings: { num_retries: 99, cooldown_time: 5 },
    })
    const texts = reasons(converted)
    expect(new Set(texts).size).toBe(texts.length)
    expect(converted.routes.map(({ retries }) => retries)).toEqual([10, 10, 10])
  })
})

describe('names', () => {
  it('of providers that begin alike stay within their length, and differ', () => {
    const host = 'long-name.'.repeat(9)
    const converted = litellm({
      model_list: ['org', 'com', 'net'].map((ending) => entry(ending, { api_base: `https://${host}${ending}/v1` })),
    })
    const names = converted.providers.map(({ name }) => name)
    expect(new Set(names).size).toBe(3)
    for (const name of names) expect(name).toMatch(/^[a-z0-9][a-z0-9._-]{0,62}$/)
    expect(converted.routes.map(({ targets }) => targets[0]?.provider)).toEqual(names)
  })

  it('of members that every object has are names like others', () => {
    const converted = litellm({
      model_list: [entry('constructor', {}), entry('__proto__', {}), entry('toString', {})],
      router_settings: { routing_strategy: 'constructor', valueOf: 1, model_group_alias: { valueOf: 'toString' } },
      constructor: 'x',
      toString_settings: { toString: 1 },
    })
    expect(converted.routes.map(({ model }) => model).sort()).toEqual([
      '__proto__',
      'constructor',
      'toString',
      'valueOf',
    ])
    expect(converted.routes.every(({ strategy }) => strategy === undefined)).toBe(true)
    expect(reasons(converted).join()).toContain('constructor: there is no such strategy here')
  })
})

describe('order and weight', () => {
  it('of targets in a plain order are their places', () => {
    const { routes } = litellm({
      model_list: [
        entry('gpt', { order: 2, model: 'openai/second', weight: -1 }),
        entry('gpt', { order: 1, model: 'openai/first', weight: 1 }),
      ],
    })
    expect(routes).toEqual([
      {
        model: 'gpt',
        targets: [
          { provider: 'openai', upstream_model: 'first' },
          { provider: 'openai', upstream_model: 'second', weight: 0 },
        ],
      },
    ])
  })

  it('keep their order as whole numbers', () => {
    const converted = litellm({
      model_list: [
        entry('gpt', { order: 10, model: 'openai/third' }),
        entry('gpt', { order: 0.5, model: 'openai/second' }),
        entry('gpt', { order: -3, model: 'openai/first' }),
        entry('gpt', { order: 10, model: 'openai/third-too', weight: 3 }),
      ],
    })
    const [route] = converted.routes
    const placed = route?.targets.map(({ upstream_model, priority, weight }) => [upstream_model, priority, weight])
    expect(placed).toEqual([
      ['third', 2, undefined],
      ['second', 1, undefined],
      ['first', 0, undefined],
      ['third-too', 2, 3],
    ])
  })

  it('of nested groups come to shares of the whole', () => {
    const target = (provider: string, weight: number) => ({ provider, weight, override_params: { model: 'm' } })
    const { routes } = portkey({
      strategy: { mode: 'loadbalance' },
      targets: [
        { weight: 3, strategy: { mode: 'loadbalance' }, targets: [target('openai', 1), target('anthropic', 3)] },
        target('groq', 1),
      ],
    })
    expect(routes[0]?.strategy).toBe('weighted')
    expect(routes[0]?.targets.map(({ provider, weight = 1 }) => [provider, weight])).toEqual([
      ['openai', 0.75],
      ['anthropic', 2.25],
      ['groq', 1],
    ])
  })
})

describe('secrets', () => {
  it('are neither in what comes out nor in what is said of it', () => {
    const secret = 'sk-canary-very-long-0123456789'
    const converted = litellm({
      model_list: [
        entry('a', { api_key: secret, extra_headers: { Authorization: `Bearer ${secret}`, 'x-team': 'search' } }),
        entry('b', { api_key: `${secret}-2`, model: 'azure/x', api_base: 'https://r.openai.azure.com' }),
        entry('c', { model: 'bedrock/anthropic.claude', aws_secret_access_key: secret, aws_region_name: 'eu-west-1' }),
      ],
    })
    expect(JSON.stringify(converted)).not.toContain('canary')
    expect(converted.routes).toHaveLength(3)
    expect(reasons(converted).join()).toContain('a key in clear text: secrets are not copied into files')
    expect(reasons(converted).join()).toContain('header Authorization: it carries a credential')
  })

  it('get a variable each', () => {
    const converted = litellm({
      model_list: ['one', 'two', 'one'].map((key, place) => entry(`m${place}`, { api_key: `sk-${key}` })),
    })
    const variables = converted.providers.map(({ credential }) => credential?.slice(2, -1))
    expect(variables).toEqual(['OPENAI_API_KEY', 'OPENAI_API_KEY_2'])
  })
})

describe('a base URL that is none', () => {
  it.each([
    ['not a url', 'is not a URL'],
    ['ftp://models.example/v1', 'must begin with https'],
    ['https://user:secret@models.example/v1', 'Leave user name and password out'],
    ['https://models.example/v1?key=secret', 'Leave the parameter key out'],
  ])('becomes a variable, and is reported: %s', (address, reason) => {
    for (const converted of [
      litellm({ model_list: [entry('gpt', { api_base: address })] }),
      portkey({ provider: 'openai', custom_host: address, override_params: { model: 'gpt-4o' } }),
    ]) {
      expect(converted.providers).toMatchObject([{ base_url: expect.stringMatching(/^\$\{\w+_BASE_URL\}$/) }])
      expect(converted.routes).toHaveLength(1)
      expect(reasons(converted).join()).toContain(reason)
      expect(JSON.stringify(converted)).not.toContain('secret')
    }
  })
})

describe('what is reported', () => {
  const model = 'model_list:\n  - { model_name: a, litellm_params: { model: openai/a } }\n'
  const read = (rest: string) => convertLitellm(parseSettingsFile(model + rest, 'source')).left

  it.each([
    ['num_retries: 99', '99 retries'],
    ['request_timeout: -1', 'a time limit of -1'],
    ['fallbacks: [{ a: 3 }]', 'a fallback of a'],
    ['fallbacks: [{ a: [nobody] }]', 'fallback of a to nobody'],
    ['num_retries: os.environ/RETRIES', 'num_retries'],
  ])('stands at its own line, whichever section says it: %s', (line, what) => {
    for (const section of ['litellm_settings', 'router_settings']) {
      const own = section === 'router_settings' ? line.replace('request_timeout', 'timeout') : line
      const [left, ...more] = read(`${section}:\n  ${own}\n`)
      expect([left?.what, left?.place.split(':')[1], more]).toEqual([what, '4', []])
    }
  })

  it.each([
    'litellm_settings: {}\n',
    'router_settings:\n  # routing_strategy: simple-shuffle\n',
    'general_settings:\n  master_key:\n',
  ])('is no section that says nothing: %j', (rest) => {
    expect(read(rest)).toEqual([])
  })
})
