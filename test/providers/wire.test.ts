import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { baseUrlProblem, joinBaseUrl } from '../../src/providers/wire/base-url.ts'
import { openaiCheck, preferResponses } from '../../src/providers/wire/openai-format.ts'
import { readReset } from '../../src/providers/wire/reset-headers.ts'
import { readProtoDuration, readRetryAfter } from '../../src/providers/wire/retry-after.ts'
import {
  anthropicRules,
  azureRules,
  bedrockRules,
  geminiRules,
  openaiRules,
  scrubWith,
  vertexRules,
} from '../../src/providers/wire/scrub.ts'

describe('readRetryAfter', () => {
  const now = Date.parse('2026-11-21T00:00:00Z')
  it.each([
    [{ 'retry-after': '3' }, 3000],
    [{ 'retry-after': '0.25' }, 250],
    [{ 'retry-after-ms': '1234.2', 'retry-after': '9' }, 1235],
    [{ 'retry-after': 'Sat, 21 Nov 2026 00:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Fri, 20 Nov 2026 00:00:30 GMT' }, 0],
    [{ 'retry-after': '-5' }, null],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after-ms': 'x', 'retry-after': '1' }, 1000],
    [{}, null],
  ])('%j is %s', (headers, expected) => {
    expect(readRetryAfter(new Map(Object.entries(headers)), now)).toBe(expected)
  })

  it('never gives a negative or broken number', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (exact, text) => {
        const read = readRetryAfter(
          new Map([
            ['retry-after-ms', exact],
            ['retry-after', text],
          ]),
          now,
        )
        return read === null || read >= 0
      }),
    )
  })
})

describe('readReset', () => {
  const now = Date.parse('2026-11-21T00:00:00Z')
  const openai = (requests: string, tokens: string, remaining = ['0', '0']) => ({
    'x-ratelimit-remaining-requests': remaining[0],
    'x-ratelimit-reset-requests': requests,
    'x-ratelimit-remaining-tokens': remaining[1],
    'x-ratelimit-reset-tokens': tokens,
  })
  it.each([
    [openai('1s', '6m0s'), 360_000],
    [openai('8.64s', '17ms'), 8640],
    [openai('1s', '6m0s', ['0', '900']), 1000],
    [openai('1d2h', '40s', ['5', '900']), 40_000],
    [openai('2m59.56s', ''), 179_560],
    [openai('12', 'soon'), 12_000],
    [openai('-1', '1e9s'), null],
    [
      {
        'anthropic-ratelimit-input-tokens-remaining': '0',
        'anthropic-ratelimit-input-tokens-reset': '2026-11-21T00:00:30Z',
        'anthropic-ratelimit-requests-remaining': '10',
        'anthropic-ratelimit-requests-reset': '2026-11-21T00:00:05Z',
      },
      30_000,
    ],
    [{ 'anthropic-ratelimit-requests-reset': '2026-11-20T23:59:05Z' }, 0],
    [{ 'anthropic-ratelimit-requests-reset': '2026-99-99T00:00:00Z' }, null],
    [{}, null],
  ])('%j is %s', (headers, expected) => {
    expect(readReset(new Map(Object.entries(headers).map(([name, value]) => [name, value ?? ''])), now)).toBe(expected)
  })

  it('never gives a negative or broken number', () => {
    const moment = fc.stringMatching(/^[-0-9.dhmsTZ:]{0,20}$/)
    fc.assert(
      fc.property(moment, moment, (one, other) => {
        const read = readReset(
          new Map([
            ['x-ratelimit-reset-tokens', one],
            ['anthropic-ratelimit-tokens-reset', other],
          ]),
          now,
        )
        return read === null || read >= 0
      }),
    )
  })
})

describe('readProtoDuration', () => {
  it.each([
    ['37s', 37_000],
    ['0.5s', 500],
    ['37', null],
    ['-1s', null],
    [37, null],
    [undefined, null],
  ])('%s', (text, expected) => {
    expect(readProtoDuration(text)).toBe(expected)
  })
})

describe('base URLs', () => {
  it.each([
    ['api.openai.com/v1', /not a URL/],
    ['ftp://h/v1', /https:\/\/ or http:\/\//],
    ['https://user:secret@h/v1', /user name/],
    ['https://h/v1#x', /#/],
  ])('%s is refused', (text, expected) => {
    expect(baseUrlProblem(text)).toMatch(expected)
    expect(() => joinBaseUrl(text, '/x')).toThrow(TypeError)
  })

  it('never tells the secret of a refused one', () => {
    expect(baseUrlProblem('https://user:secret@h/v1')).not.toContain('secret')
  })

  it.each([
    ['https://h.example', 'https://h.example/v1'],
    ['https://h.example/openai/', 'https://h.example/openai/v1'],
    ['https://h.example/v1/v1', 'https://h.example/v1'],
    ['https://h.example/v1/chat/completions', 'https://h.example/v1'],
    ['https://h.example/v1/', 'https://h.example'],
    ['https://h.example/v1/openai', null],
    ['https://h.example?k=1', 'https://h.example/v1?k=1'],
  ])('%s was probably meant as %s', (given, meant) => {
    expect(openaiCheck(() => true).otherSpelling(given)).toBe(meant)
  })
})

describe('scrubWith', () => {
  const rules = [...openaiRules, ...anthropicRules, ...geminiRules]

  it('keeps bytes that are no UTF-8', () => {
    const body = Buffer.concat([
      Buffer.from([0xff, 0xfe, 0x80]),
      Buffer.from(' org-Abcdef123 '),
      Buffer.from([0xc3, 0x28]),
    ])
    const expected = Buffer.concat([Buffer.from([0xff, 0xfe, 0x80]), Buffer.from(' *** '), Buffer.from([0xc3, 0x28])])
    expect(scrubWith(openaiRules, body)).toEqual(expected)
  })

  it('leaves a scrubbed body alone', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            'org-Abcdef123',
            ' in organization ',
            'X Ltd',
            ' on t',
            'projects/123',
            '"consumer":"',
            'abc',
            '"',
            ' ',
          ),
        ),
        (parts) => {
          const once = scrubWith(rules, Buffer.from(parts.join(' ')))
          return scrubWith(rules, once).equals(once)
        },
      ),
    )
  })

  it('keeps JSON whole', () => {
    const member = fc.constantFrom('organization', 'project_id', 'consumer', 'message', 'account_id', 'team')
    const text = fc.constantFrom(
      'org-Abcdef123',
      'projects/99',
      'in organization A "quoted" B on tokens',
      'a\\b',
      'team 2f1b6c7e-1111-4a2b-9c3d-0123456789ab',
    )
    fc.assert(
      fc.property(fc.dictionary(member, text), (error) => {
        JSON.parse(scrubWith(rules, Buffer.from(JSON.stringify({ error }))).toString())
      }),
    )
  })

  it('stays quick on hostile bodies', () => {
    const every = [...rules, ...azureRules, ...bedrockRules, ...vertexRules]
    const pieces = [
      'in organization ',
      'organization ',
      '"account_id": "',
      'projects/',
      'sk-',
      'project:',
      'a-',
      'a.',
      'eyJ-',
    ]
    for (const piece of pieces) {
      const body = Buffer.from(piece.repeat(Math.ceil(65_536 / piece.length)))
      expect(scrubWith(every, body).length).toBeGreaterThan(0)
    }
  }, 30_000)

  it('finds hosts, accounts and tokens of the clouds', () => {
    const text =
      'https://my-company.openai.azure.com, eyJhbGciOiJSUzI1.eyJzdWIiOiJhYmMi.c2ln-4 of gate@my-app.iam.gserviceaccount.com'
    expect(scrubWith([...azureRules, ...vertexRules], Buffer.from(text)).toString()).toBe(
      'https://***.openai.azure.com, *** of ***',
    )
  })
})

it.each([
  ['gpt-4o', 'chat'],
  ['gpt-5-mini', 'chat'],
  ['gpt-5.2', 'chat'],
  ['gpt-5.4', 'responses'],
  ['GPT-5.6-luna', 'responses'],
  ['gpt-6.1-sol', 'responses'],
  ['gpt-5.1-codex-max', 'responses'],
  ['gpt-5-pro-2025-10-06', 'responses'],
  ['o3-deep-research', 'responses'],
  ['o4-mini-deep-research-2025-06-26', 'responses'],
  ['o3-pro', 'responses'],
  ['gpt-5.10', 'responses'],
  ['gpt-5.5-pro', 'responses'],
  ['codex-mini-latest', 'responses'],
  // What others have named says nothing of the model.
  ['my-codex-test', 'chat'],
  ['gpt-5-prod', 'chat'],
  ['gpt-4o1-prod', 'chat'],
  ['sonar-deep-research', 'chat'],
  ['gpt-5.4-chat-latest', 'chat'],
  ['gpt-6-mini-chat', 'chat'],
])('crush 2913: other clients get %s of OpenAI by its %s', (model, first) => {
  expect(preferResponses(model) ?? 'chat').toBe(first)
})
