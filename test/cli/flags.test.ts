import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readFields } from '../../cli/fields.ts'
import { readValue } from '../../cli/flags.ts'
import type { Field } from '../../cli/operation.ts'
import { parseLine } from './run-line.ts'

async function read(...argv: string[]) {
  return readWith({}, ...argv)
}

async function readWith(environment: Record<string, string>, ...argv: string[]) {
  const result = await parseLine(argv, { environment })
  if (!('parsed' in result)) throw new Error(result.err())
  return result
}

function one(schema: z.ZodType): Field {
  const [field] = readFields(z.object({ someField: schema }))
  if (field === undefined) throw new Error('no field')
  return field
}

describe('fields of a schema', () => {
  it('sees through optional, default, nullable and pipe, and takes what any layer says of itself', () => {
    expect(one(z.enum(['a', 'b']).meta({ description: 'inner' }).default('a'))).toMatchObject({
      flag: 'some-field',
      shape: 'text',
      choices: ['a', 'b'],
      required: false,
      fallback: 'a',
      description: 'inner',
    })
    expect(one(z.string().nullable())).toMatchObject({ required: true, nullable: true })
    expect(one(z.array(z.enum(['x'])).optional())).toMatchObject({ shape: 'list', choices: ['x'], required: false })
    expect(one(z.record(z.string(), z.string()).meta({ flag: 'header' }))).toMatchObject({
      shape: 'pairs',
      flag: 'header',
    })
    expect(one(z.string().transform(Number))).toMatchObject({ shape: 'text', required: true })
  })
})

describe('values', () => {
  it('reads any pair at its first equals sign', () => {
    const pairs = one(z.record(z.string(), z.string()))
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[^=]+$/), fc.string(), { minKeys: 1 }), (map) => {
        const texts = Object.entries(map).map(([name, value]) => `${name}=${value}`)
        expect(readValue(pairs, texts)).toEqual({ ...map })
      }),
    )
  })

  it('reads any finite number and refuses all else', () => {
    const number = one(z.number())
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (amount) => {
        expect(Object.is(amount, -0) || readValue(number, String(amount)) === amount).toBe(true)
      }),
    )
    for (const text of ['', ' ', 'ten', '1x', 'Infinity', 'NaN']) {
      expect(() => readValue(number, text)).toThrow('is not a number')
    }
  })

  it('splits at commas only where the field is a list by its syntax', () => {
    const list = one(z.array(z.string()).meta({ syntax: 'list' }))
    const targets = one(z.array(z.string()).meta({ syntax: 'target' }))
    expect(readValue(list, ['429,500', ' 503'])).toEqual(['429', '500', '503'])
    expect(readValue(targets, ['azure:gpt,weight=2'])).toEqual(['azure:gpt,weight=2'])
  })

  it('turns durations and sizes into numbers where the operation wants numbers', () => {
    expect(readValue(one(z.number().meta({ syntax: 'duration' })), '5s')).toBe(5000)
    expect(readValue(one(z.number().meta({ syntax: 'size' })), '64KB')).toBe(64_000)
    expect(readValue(one(z.string().meta({ syntax: 'duration' })), '5s')).toBe('5s')
    expect(() => readValue(one(z.number().meta({ syntax: 'duration' })), '5 parsecs')).toThrow('--some-field cannot be')
  })

  it('empties a nullable field at the word none', () => {
    expect(readValue(one(z.string().nullable()), 'none')).toBeNull()
    expect(readValue(one(z.string()), 'none')).toBe('none')
  })
})

describe('command lines', () => {
  it('reads arguments, repeated flags, pairs, lists and switches', async () => {
    const { operation, parsed } = await read(
      ...['providers', 'add', 'groq', '--kind', 'openai-compatible', '--header', 'a=1', '--header', 'b=x=y'],
      ...['--project', 'search', '-p', 'web', '--timeout-first-byte', '60s', '--skip-check'],
    )
    expect(operation.name).toBe('providers.add')
    expect(parsed.input).toEqual({
      name: 'groq',
      kind: 'openai-compatible',
      headers: { a: '1', b: 'x=y' },
      projects: ['search', 'web'],
      timeoutFirstByte: '60s',
      skipCheck: true,
    })
  })

  it('accepts add and create everywhere, and areas within areas', async () => {
    expect((await read('keys', 'add', '--name', 'ci')).operation.name).toBe('keys.create')
    expect((await read('routes', 'create', 'm', '--provider', 'p')).operation.name).toBe('routes.add')
    expect((await read('providers', 'credentials', 'add', 'openai')).operation.name).toBe('providers.credentials.add')
  })

  it('keeps a switch that can be turned off apart from one that was not mentioned', async () => {
    expect((await read('routes', 'edit', 'm', '--strict')).parsed.input.strict).toBe(true)
    expect((await read('routes', 'edit', 'm', '--no-strict')).parsed.input.strict).toBe(false)
    expect((await read('routes', 'edit', 'm')).parsed.input).not.toHaveProperty('strict')
  })

  it('takes project and environment from the flag, else from the variables, else leaves them to the contract', async () => {
    const variables = { SPGW_PROJECT: 'search', SPGW_ENVIRONMENT: 'staging' }
    const scope = { project: 'search', environment: 'staging' }
    expect((await readWith(variables, 'keys', 'list')).parsed.input).toMatchObject(scope)
    expect((await readWith(variables, 'keys', 'list', '-p', 'web')).parsed.input).toMatchObject({
      ...scope,
      project: 'web',
    })
    expect((await readWith(variables, '-e', 'live', 'keys', 'list')).parsed.input.environment).toBe('live')
    expect((await read('keys', 'list')).parsed.input).toEqual({})
    // Limiting a provider to projects is a decision, not a default.
    expect((await readWith(variables, 'providers', 'edit', 'openai')).parsed.input).toEqual({ name: 'openai' })
  })

  it('reads the global flags before and after the area', async () => {
    expect((await read('--json', '--data-dir', '/d', 'keys', 'list', '--no-wait', '-y')).settings).toMatchObject({
      output: 'json',
      dataDir: '/d',
      wait: false,
      yes: true,
    })
    expect((await read('keys', 'list', '--output', 'yaml')).settings).toMatchObject({ output: 'yaml', wait: true })
  })

  it('takes only the source of a secret', async () => {
    expect((await read('providers', 'add', 'x', '--credential-stdin')).parsed.secrets).toEqual({
      credential: { from: 'stdin' },
    })
    expect((await read('providers', 'add', 'x', '--credential-env', 'KEY')).parsed.secrets).toEqual({
      credential: { from: 'variable', name: 'KEY' },
    })
    expect((await read('providers', 'add', 'x', '--credential-file', '/run/key')).parsed.secrets).toEqual({
      credential: { from: 'file', name: '/run/key' },
    })
  })
})
