import { describe, expect, it } from 'vitest'
import { deriveContract } from '../../../scripts/derive-contract.ts'
import {
  inputOf,
  overtakenFields,
  problemsOf,
  valuesOf,
  withoutChanged,
} from '../../../src/console/app/parts/form-values.ts'

const fieldsOf = (name: string) => deriveContract().find((operation) => operation.name === name)?.fields ?? []

describe('a form from nothing', () => {
  const fields = fieldsOf('routes.add')

  it('sends what was filled in, in the types of the input, and nothing else', () => {
    const values = { ...valuesOf(fields), model: ' gpt-4o ', retries: '2', targets: 'openai\n\n azure:gpt4o ' }
    expect(inputOf(fields, values, null)).toEqual({
      model: 'gpt-4o',
      project: 'default',
      environment: 'production',
      retries: 2,
      targets: ['openai', 'azure:gpt4o'],
    })
  })

  it('says what is missing before it asks', () => {
    expect(problemsOf(fields, valuesOf(fields), null)).toEqual({ model: 'Required' })
    expect(problemsOf(fields, { ...valuesOf(fields), model: 'a' }, null)).toEqual({})
  })

  it('leaves a secret as it was typed', () => {
    const of = fieldsOf('providers.add')
    const values = { ...valuesOf(of), name: 'a', kind: 'openai', credential: ' sk-1 ' }
    expect(inputOf(of, values, null)).toEqual({ name: 'a', kind: 'openai', credential: ' sk-1 ' })
  })
})

describe('a form of what stands', () => {
  const fields = fieldsOf('providers.edit').filter(({ name }) => name !== 'name')
  const before = valuesOf(fields, { baseUrl: 'https://a', organization: 'org', tags: { team: 'a', cost: 'b' } })

  it('knows what somebody else has changed meanwhile, and would be replaced', () => {
    const overtaken = (values: object, stored: object) =>
      overtakenFields(fields, { ...before, ...values }, before, { ...before, ...stored }).map(({ name }) => name)
    expect(overtaken({ baseUrl: 'https://b' }, { baseUrl: 'https://c' })).toEqual(['baseUrl'])
    expect(overtaken({ baseUrl: 'https://b' }, { baseUrl: 'https://b' })).toEqual([])
    expect(overtaken({ baseUrl: 'https://b' }, { organization: 'other' })).toEqual([])
    expect(overtaken({}, { baseUrl: 'https://c' })).toEqual([])
  })

  it('sends what was changed alone', () => {
    expect(inputOf(fields, before, before)).toEqual({})
    expect(inputOf(fields, { ...before, baseUrl: 'https://b' }, before)).toEqual({ baseUrl: 'https://b' })
  })

  it('empties what can be empty, and removes a pair by sending it empty', () => {
    expect(inputOf(fields, { ...before, organization: '' }, before)).toEqual({ organization: null })
    expect(inputOf(fields, { ...before, tags: [['team', 'a']] }, before)).toEqual({ tags: { team: 'a', cost: '' } })
  })

  it('shows what a file says, and sends what is written in its place as one', () => {
    const of = fieldsOf('policies.edit').filter(({ name }) => name !== 'name')
    const stands = valuesOf(of, { contentRules: { 'rules.json': '{"rules":[1]}' } })
    expect(stands.contentRules).toBe('{"rules":[1]}')
    expect(inputOf(of, stands, stands)).toEqual({})
    const changed = { ...stands, contentRules: 'rules: []' }
    expect(inputOf(of, changed, stands)).toEqual({ contentRules: { 'content-rules.yaml': 'rules: []' } })
    expect(inputOf(of, { ...stands, contentRules: ' ' }, stands)).toEqual({ clear: ['content-rules'] })
    expect(valuesOf(of, { contentRules: {} }).contentRules).toBe('')
    expect(inputOf(of, { ...valuesOf(of), contentRules: '{}' }, null)).toMatchObject({
      contentRules: { 'content-rules.yaml': '{}' },
    })
  })

  it('clears what was emptied where the operation has words for that', () => {
    const of = fieldsOf('policies.edit').filter(({ name }) => name !== 'name')
    const stands = valuesOf(of, {
      rpm: 60,
      budgetUsdMonth: 200,
      maxBody: '1MB',
      onBudget: 'warn',
      attach: ['workspace'],
    })
    const emptied = { ...stands, rpm: '', budgetUsdMonth: '300', maxBody: '', onBudget: '', attach: '' }
    expect(inputOf(of, emptied, stands)).toEqual({
      budgetUsdMonth: 300,
      attach: [],
      clear: ['rpm', 'on-budget', 'max-body'],
    })
  })
})

describe('a number', () => {
  const fields = fieldsOf('providers.edit').filter(({ name }) => name !== 'name')
  const before = valuesOf(fields, { rpm: 500 })
  const problems = (rpm: string) => problemsOf(fields, { ...before, rpm }, before)

  it.each(['1,000', '1 000', '12k', '1e999', '--', 'Infinity'])('that is none clears no limit: %s', (text) => {
    expect(problems(text)).toEqual({ rpm: expect.stringContaining('number') })
    expect(problemsOf(fieldsOf('providers.add'), { rpm: text }, null)).toHaveProperty('rpm')
  })

  it.each([
    ['1000', 1000],
    [' 2.5 ', 2.5],
    ['', null],
  ])('is sent as it was written: %j', (text, rpm) => {
    expect(problems(text)).toEqual({})
    expect(inputOf(fields, { ...before, rpm: text }, before)).toEqual({ rpm })
  })
})

it('what is said of a field holds until somebody writes in it', () => {
  const errors = { name: 'Required', expires: 'Must be a duration' }
  expect(withoutChanged(errors, new Set())).toEqual(errors)
  expect(withoutChanged(errors, new Set(['name']))).toEqual({ expires: 'Must be a duration' })
  expect(withoutChanged(errors, new Set(['name', 'expires', 'policy']))).toEqual({})
})
