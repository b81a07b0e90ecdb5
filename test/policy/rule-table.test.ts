import fc, { array, constantFrom, integer, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readFields } from '../../cli/fields.ts'
import { optionsOf } from '../../cli/flags.ts'
import { clearField, inputFields, ruleColumns, shownFields } from '../../src/admin/contract/policies/policy-fields.ts'
import { captureModes } from '../../src/core/capture.ts'
import {
  changeRules,
  type PolicyRule,
  policyRules,
  type RuleName,
  type RuleValue,
  showRules,
  writeRules,
} from '../../src/core/policies/policy-rules.ts'
import { ruleFields, ruleSpecs, rulesIn } from '../../src/manifest/policy-rules.ts'
import { admitCall, compilePolicies, effectivePolicy, maxBody } from '../../src/policy/admit.ts'
import { type RuleCheck, ruleChecks } from '../../src/policy/checks.ts'
import { attachCounters, createCounterMemory, requestsInFlight } from '../../src/policy/counters.ts'
import { findStrictest } from '../../src/policy/effective.ts'
import { makeConfiguration, makeKey, makePolicy } from '../support/snapshot.ts'

/** What somebody writes to add a limit: a row in `core/policies/policy-rules.ts` and its row in `policy/checks.ts`. */
const maxUpload = {
  form: { kind: 'size' },
  title: 'MAX UPLOAD',
  meta: { description: 'Maximum size of an upload', label: 'Max upload size' },
} as const satisfies PolicyRule
const maxUploadCheck: RuleCheck<number> = {
  strictest: { of: (one, other) => Math.min(one, other) },
  prepare: (bytes, policy) => ({ body: { bytes, policy, within: `The upload is within the policy ${policy}.` } }),
}
const table = { ...policyRules, maxUpload }
const checks = { ...ruleChecks, maxUpload: maxUploadCheck }

describe('a rule that is added to the table', () => {
  const input = z.strictObject({ ...inputFields(table), ...clearField(table) })

  it('is an input field of the contract, checked by its form', () => {
    expect(input.parse({ maxUpload: '2MB', clear: ['max-upload'] })).toEqual({
      maxUpload: '2MB',
      clear: ['max-upload'],
    })
    expect(input.safeParse({ maxUpload: '2' }).success).toBe(false)
    expect(input.safeParse({ clear: ['max-other'] }).success).toBe(false)
  })

  it('is a flag of the command line and a field of forms', () => {
    const field = readFields(input).find(({ name }) => name === 'maxUpload')
    expect(field).toMatchObject({ flag: 'max-upload', syntax: 'size', required: false })
    expect(field && optionsOf(field).map(({ flags, description }) => [flags, description])).toEqual([
      ['--max-upload <size>', 'Maximum size of an upload'],
    ])
  })

  it('is a column and a field of answers', () => {
    expect(ruleColumns(table).at(-1)).toEqual({
      field: 'max_upload_bytes',
      title: 'MAX UPLOAD',
      format: 'size',
      optional: true,
    })
    const shown = showRules(table, { maxUpload: 5000 })
    expect(shown).toMatchObject({ max_upload_bytes: 5000, max_body_bytes: null, lanes: [] })
    expect(z.strictObject(shownFields(table)).parse(shown)).toEqual(shown)
    expect(writeRules(table, shown)).toMatchObject({ maxUpload: '5KB', maxBody: null, allowModels: [] })
  })

  it('is set, kept and cleared by an operation', () => {
    const before = changeRules(table, {}, { maxUpload: '2MB', denyModels: ['o1'] })
    expect(before).toMatchObject({ maxUpload: 2_000_000, denyModels: ['o1'], maxBody: null })
    expect(changeRules(table, before, { denyModels: ['o3'] })).toMatchObject({
      maxUpload: 2_000_000,
      denyModels: ['o3'],
    })
    expect(changeRules(table, before, {}, ['max-upload'])).toMatchObject({ maxUpload: null, denyModels: ['o1'] })
    expect(changeRules(table, before, { maxUpload: '1KB' }, ['max-upload'])).toMatchObject({ maxUpload: 1000 })
  })

  it('is a field of configuration files, read and written', () => {
    const { max_upload: spec } = ruleSpecs(table)
    expect(spec).toMatchObject({ shown: 'max_upload_bytes', fallback: null })
    expect([spec?.form.read('2MB'), spec?.form.read('none'), spec?.form.read('2')]).toEqual([
      2_000_000,
      null,
      undefined,
    ])
    expect([spec?.form.write(2_000_000, {}), spec?.form.write(null, {})]).toEqual(['2MB', 'none'])
    const rules = changeRules(table, {}, { maxUpload: '2MB', lanes: ['openai', 'anthropic'] })
    const fields = ruleFields(table, rules)
    expect(fields).toMatchObject({ max_upload: 2_000_000, lanes: ['anthropic', 'openai'] })
    expect(rulesIn(table, fields)).toEqual({ ...rules, lanes: ['anthropic', 'openai'] })
  })

  it('is admitted or refused by the strictest policy that sets it', () => {
    const policies = [1000, 64, 500].map((bytes, place) => ({ ...makePolicy(`p${place}`), maxUpload: bytes }))
    const effective = effectivePolicy(compilePolicies(makeConfiguration({ policies }), checks), makeKey())
    const layout = { rows: 1, threads: 1 }
    const counters = attachCounters(createCounterMemory(layout), layout, 0)
    const admit = (bytes: number) =>
      admitCall({ lane: 'openai', model: 'gpt-4o', bytes, bodyLimit: 5000 }, effective, counters)
    expect(maxBody(effective, 5000)).toBe(64)
    expect(admit(64)).toMatchObject({ fault: null, signals: [{ text: 'The upload is within the policy p1.' }] })
    expect(admit(65)).toMatchObject({ fault: { code: 'request_too_large' } })
    // Only what is admitted counts as in flight.
    expect(counters.read(requestsInFlight)).toBe(1)
    expect(admit(65).fault?.message).toContain('64 B that the policy p1 allows')
  })

  it('does not compile without its check', () => {
    // @ts-expect-error: every rule of the table has a check
    const incomplete: { readonly [Name in keyof typeof table]: unknown } = ruleChecks
    expect(Object.keys(incomplete)).not.toContain('maxUpload')
  })
})

describe('the table', () => {
  it('has a check for every rule, and no other', () => {
    expect(Object.keys(ruleChecks).sort()).toEqual(Object.keys(policyRules).sort())
  })
})

const merged: [name: RuleName, value: fc.Arbitrary<RuleValue>][] = [
  ['maxBody', integer({ min: 0, max: 5 })],
  ['capture', constantFrom(...captureModes)],
  ['bodiesRetention', integer({ min: 1, max: 5 })],
]

describe.each(merged)('the strictest value of %s', (name, value) => {
  const { strictest }: RuleCheck<RuleValue> = ruleChecks[name]
  if (strictest === 'each') throw new Error(`${name} merges nothing`)
  const { of } = strictest
  const holding = (set: readonly { value: RuleValue }[]) => findStrictest(set, strictest)

  it('depends neither on order, nor on grouping, nor on repetition', () => {
    fc.assert(
      property(value, value, value, (one, other, third) => {
        expect(of(one, other)).toBe(of(other, one))
        expect(of(of(one, other), third)).toBe(of(one, of(other, third)))
        expect(of(one, one)).toBe(one)
        expect([one, other]).toContain(of(one, other))
      }),
    )
  })

  it('is found in parts as in the whole', () => {
    const set = array(value, { maxLength: 5 }).map((all) => all.map((one) => ({ value: one })))
    fc.assert(
      property(set, set, (one, other) => {
        expect(holding([...holding(one), ...holding(other)])).toEqual(holding([...one, ...other]))
        expect(holding(holding(one))).toEqual(holding(one))
        expect(holding(one)).toHaveLength(Math.min(one.length, 1))
      }),
    )
  })
})
