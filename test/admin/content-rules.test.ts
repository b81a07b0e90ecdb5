import { describe, expect, it } from 'vitest'
import { refusal, startTestGateway } from './gateway.ts'

const yaml = `
rules:
  - name: keys
    detector: secrets
    action: block
    on: [prompt]
  - name: tickets
    pattern: ACME-\\d+
    action: redact
    reversible: true
`
const keys = {
  name: 'keys',
  detector: 'secrets',
  pattern: null,
  action: 'block',
  on: ['prompt'],
  reversible: false,
  longest: 200,
}
const tickets = {
  name: 'tickets',
  detector: null,
  pattern: 'ACME-\\d+',
  action: 'redact',
  on: ['prompt', 'answer'],
  reversible: true,
  longest: 200,
}

describe('content rules of a policy', () => {
  it('are read from YAML and JSON, shown, replaced and cleared', async () => {
    const { client } = await startTestGateway()
    const rules = { contentRules: { 'rules.yaml': yaml }, denyPatterns: ['(?i)zeus{2,3}'] }
    expect(await client.policies.add({ name: 'safe', ...rules })).toMatchObject({
      content_rules: [keys, tickets],
      deny_patterns: ['(?i)zeus{2,3}'],
    })
    const json = JSON.stringify({
      rules: [{ name: 'mail', detector: 'email-addresses', action: 'flag', on: 'answer' }],
    })
    const edited = await client.policies.edit({ name: 'safe', contentRules: { 'rules.json': json } })
    expect(edited).toMatchObject({
      content_rules: [{ name: 'mail', on: ['answer'] }],
      deny_patterns: ['(?i)zeus{2,3}'],
    })
    const cleared = await client.policies.edit({ name: 'safe', clear: ['content-rules', 'deny-patterns'] })
    expect(cleared).toMatchObject({ content_rules: [], deny_patterns: [] })
  })

  it.each([
    ['rules: nothing', 'there must be a list called `rules`'],
    ['rule: []', '"rule" is not a member of the file'],
    ['rules: [{name: a, action: block}]', 'rule a: it needs a `detector` or a `pattern`'],
    ['rules: [{name: a, detector: ssn, action: block}]', 'rule a: `detector` must be one of secrets, personal'],
    ['rules: [{name: a, detector: secrets, action: drop}]', 'rule a: `action` must be one of block, redact, flag'],
    ['rules: [{name: a, detector: secrets, action: block, on: [both]}]', 'rule a: `on` must be a list of prompt and'],
    ['rules: [{name: a, detector: secrets, action: block, reversible: true}]', '`reversible` is for rules that redact'],
    ['rules: [{name: a, pattern: x, action: block, longest: 0}]', '`longest` must be a whole number from 1 to 2000'],
    ['rules: [{name: a, pattern: x, action: flag}, {name: a, pattern: y, action: flag}]', 'two rules are called a'],
    ["rules: [{name: a, pattern: '(x', action: flag}]", 'the content rule a cannot be used: missing closing )'],
    ["rules: [{name: a, pattern: '(x)\\1', action: flag}]", 'no back references, so that every search is fast'],
    ["rules: [{name: a, pattern: 'x(?=y)', action: flag}]", 'no look-ahead and no look-behind'],
    ["rules: [{name: a, pattern: 'x*', action: flag}]", 'it matches the empty text'],
    ['rules: [', 'line 1'],
  ])('refuse %s', async (text, message) => {
    const { client } = await startTestGateway()
    const contentRules = { 'rules.yaml': text }
    expect(await refusal(client.policies.add({ name: 'bad', contentRules }))).toMatchObject({
      code: 'invalid',
      message: expect.stringContaining(message),
    })
  })

  it('refuse a denied pattern that is none', async () => {
    const { client } = await startTestGateway()
    expect(await refusal(client.policies.add({ name: 'bad', denyPatterns: ['ok', 'a('] }))).toMatchObject({
      code: 'invalid',
      message: 'The pattern "a(" cannot be used: missing closing ): `a(`.',
    })
  })
})

describe('a text that rules are tried on', () => {
  const text = 'Key sk-proj-Abc123Def456Ghi789 for jane@example.com, see ACME-12.'

  it('shows what each rule of a policy finds, and where', async () => {
    const { client } = await startTestGateway()
    await client.policies.add({ name: 'safe', contentRules: { 'rules.yaml': yaml }, denyPatterns: ['zeus'] })
    const tried = await client.policies.try({ name: 'safe', text })
    expect(
      tried.matches.map(({ rule, kind, action, start, end }) => [rule, kind, action, text.slice(start, end)]),
    ).toEqual([
      ['keys', 'provider key', 'block', 'sk-proj-Abc123Def456Ghi789'],
      ['tickets', null, 'redact', 'ACME-12'],
    ])
    expect(tried).toMatchObject({ policy: 'safe', on: 'prompt', text: null })
    const answer = await client.policies.try({ name: 'safe', on: 'answer', file: { 'text.json': text } })
    expect(answer.text).toBe(text.replace('ACME-12', '[TICKETS_1]'))
  })

  it.each(['- {name: keys, detector: secrets, action: block}', '[]', 'keys'])(
    'says what a file holds that is %s',
    async (file) => {
      const { client } = await startTestGateway()
      expect(await refusal(client.policies.add({ name: 'p', contentRules: { 'rules.yaml': file } }))).toMatchObject({
        message: 'The content rules are wrong: rules.yaml: line 1:1: expected `rules:` and below it the list of rules.',
      })
    },
  )

  it('takes rules that are not saved, and says what is missing or wrong', async () => {
    const { client } = await startTestGateway()
    const mails = '{"rules":[{"name":"mails","detector":"email-addresses","action":"redact"}]}'
    const tried = await client.policies.try({ text, contentRules: { 'rules.json': mails } })
    expect(tried.text).toBe(text.replace('jane@example.com', '[EMAIL_1]'))
    expect(await refusal(client.policies.try({ text }))).toMatchObject({ code: 'invalid' })
    expect(await refusal(client.policies.try({ contentRules: { 'rules.json': mails } }))).toMatchObject({
      code: 'invalid',
    })
    const long = { text: 'x'.repeat(32_769), contentRules: { 'rules.json': mails } }
    expect(await refusal(client.policies.try(long))).toMatchObject({ code: 'invalid' })
  })
})
