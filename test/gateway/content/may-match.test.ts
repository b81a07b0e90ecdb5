import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readNodes } from '../../../src/core/json/json-nodes.ts'
import type { ContentRule } from '../../../src/core/policies/content-rules.ts'
import { findTexts } from '../../../src/gateway/content/content-texts.ts'
import { mayMatch } from '../../../src/gateway/content/may-match.ts'
import { scanFor } from '../../../src/policy/content/arguments-scan.ts'
import { readyRules } from '../../../src/policy/content/compile.ts'
import { Placeholders } from '../../../src/policy/content/placeholders.ts'

const rule = (detector: string): ContentRule => ({
  ...{ name: 'keys', detector, pattern: null, action: 'redact', on: ['prompt', 'answer'], reversible: false },
  longest: 200,
})
const rules = await readyRules([{ policy: 'p', rules: [rule('secrets')] }], null)

/** What looking at every text of the document comes to. */
function lookAtAll(bytes: Buffer, side: 'prompt' | 'answer'): boolean {
  const root = readNodes(bytes)
  if (root === null) throw new Error(`no JSON: ${bytes}`)
  let found = false
  const context = {
    ...{ rules: rules[side], placeholders: new Placeholders(() => 0), restorer: () => null },
    found: () => {
      found = true
    },
  }
  const { texts, unseen, logprobs } = findTexts(bytes, root, side)
  for (const { text, isJson } of texts) scanFor({ isJson }, context).whole(text)
  return found || unseen || logprobs.length > 0
}

const secrets = [
  'sk-proj-Abc123Def456Ghi789Jkl',
  'sp_live_0123456789abcdefABCDEF',
  'Authorization: Bearer abc/def+ghi/jkl~mno.pqr=',
  'basic\tYWxhZGRpbjpvcGVuc2VzYW1lMTIz',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln',
  '-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----',
  'AKIAIOSFODNN7EXAMPLE00',
  // What hides it is taken away before it is looked for.
  'sk-\u200bproj-Abc123Def456Ghi789Jkl',
  'ｓｋ-proj-Abc123Def456Ghi789Jkl',
  'sp_li\u00adve_0123456789abcdefABCDEF',
  'AKIA\u{e0041}IOSFODNN7EXAMPLE00',
  'sk-\u{fffd}proj-Abc123Def456Ghi789Jkl',
]
const words = ['a basic example', 'task-force', 'risk', 'hello\nworld', 'bearer of news', '/a/b', 'é', '']
const names = fc.constantFrom(
  ...[
    'content',
    'messages',
    'text',
    'type',
    'input',
    'prompt',
    'arguments',
    'output',
    'url',
    'data',
    'logprobs',
    'args',
  ],
  ...['image_url', 'file_id', 'metadata', 'role', 'top_logprobs', 'model'],
)
const leaf = fc.oneof(
  fc.constantFrom(...words, 'image', 'input_file', 'text', 'data:image/png;base64,AAAA', 'A'.repeat(300)),
  fc.tuple(fc.constantFrom(...words), fc.constantFrom(...secrets)).map(([word, secret]) => `${word}\n${secret}`),
  fc.constantFrom(...secrets).map((secret) => JSON.stringify({ key: `\t${secret}` })),
  fc.integer(),
  fc.constant(null),
)
const { document } = fc.letrec((tie) => ({
  document: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    leaf,
    fc.array(tie('document'), { maxLength: 3 }),
    fc.array(fc.tuple(names, tie('document')), { maxLength: 4 }).map((members) => Object.fromEntries(members)),
  ),
}))
/** How a client may write it: with blanks, with slashes escaped, or with letters escaped. */
const writings = [
  (value: unknown) => JSON.stringify(value),
  (value: unknown) => JSON.stringify(value, null, 1),
  (value: unknown) => JSON.stringify(value).replaceAll('/', '\\/'),
  (value: unknown) => JSON.stringify(value).replaceAll('s', '\\u0073'),
]

describe('one look at the bytes of a document', () => {
  it('is never surer than a look at each of its texts', () => {
    const sure = { yes: 0, no: 0 }
    fc.assert(
      fc.property(
        document,
        fc.constantFrom(...writings),
        fc.constantFrom('prompt' as const, 'answer' as const),
        (value, write, side) => {
          const bytes = Buffer.from(write(value))
          const may = mayMatch(bytes, side, rules)
          sure[may ? 'no' : 'yes']++
          if (lookAtAll(bytes, side)) expect(may, bytes.toString()).toBe(true)
        },
      ),
      { numRuns: 3000 },
    )
    expect(sure.yes).toBeGreaterThan(300)
    expect(sure.no).toBeGreaterThan(300)
  })

  it('is not enough where a byte is no UTF-8, within whatever it stands', () => {
    const text = Buffer.from(
      JSON.stringify({ messages: [{ role: 'user', content: 's!k-proj-Abc123Def456Ghi789Jkl' }] }),
    )
    for (const byte of [0x80, 0xc3, 0xff]) {
      const broken = Buffer.from(text)
      broken[broken.indexOf('!')] = byte
      expect(mayMatch(broken, 'prompt', rules)).toBe(true)
      expect(lookAtAll(broken, 'prompt')).toBe(true)
    }
  })

  it('is enough for an ordinary chat', () => {
    const chat = {
      model: 'm',
      temperature: 0.2,
      messages: [{ role: 'user', content: 'Give a basic example of a task.' }],
    }
    expect(mayMatch(Buffer.from(JSON.stringify(chat)), 'prompt', rules)).toBe(false)
    const answer = { choices: [{ message: { content: 'Here.' }, logprobs: null, finish_reason: 'stop' }], usage: {} }
    expect(mayMatch(Buffer.from(JSON.stringify(answer)), 'answer', rules)).toBe(false)
  })

  it('is not enough where a rule has a pattern, or personal data is looked for', async () => {
    const others = await readyRules([{ policy: 'p', rules: [rule('email-addresses')] }], null)
    expect(mayMatch(Buffer.from('{}'), 'prompt', others)).toBe(true)
  })

  it('is not enough for what is in another encoding', () => {
    expect(mayMatch(Buffer.from('{"content":"sk-proj-Abc123Def456Ghi789"}', 'utf16le'), 'prompt', rules)).toBe(true)
  })

  it('sees what is spread over text parts, wherever it is cut, and is enough for parts that hold nothing', () => {
    const prompt = (...parts: string[]) =>
      Buffer.from(
        JSON.stringify(
          { messages: [{ role: 'user', content: parts.map((text) => ({ type: 'text', text })) }] },
          null,
          1,
        ),
      )
    for (const secret of secrets)
      for (let at = 1; at < secret.length; at++)
        expect(mayMatch(prompt(`a ${secret.slice(0, at)}`, `${secret.slice(at)} b`), 'prompt', rules)).toBe(true)
    expect(mayMatch(prompt('a "task"\n', 'and {"text": "another"}', 'risk'), 'prompt', rules)).toBe(false)
  })
})
