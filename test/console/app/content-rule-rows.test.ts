import { describe, expect, it } from 'vitest'
import {
  changeRule,
  lookFor,
  newRow,
  ownPattern,
  type RuleRow,
  readRows,
  writeRows,
} from '../../../src/console/app/areas/settings/content-rule-rows.ts'
import { readContentRules } from '../../../src/core/policies/content-rules.ts'
import { policyRules, writeValue } from '../../../src/core/policies/policy-rules.ts'

const only = (rows: readonly RuleRow[] | null): RuleRow => {
  const [row] = rows ?? []
  if (row === undefined) throw new Error('there is no row')
  return row
}
const rulesOf = (rows: readonly RuleRow[]) => {
  const read = readContentRules(JSON.parse(writeRows(rows)))
  return 'rules' in read ? read.rules : read.wrong
}

describe('content rules as rows of a form', () => {
  it('are what the gateway takes', () => {
    const first = newRow([])
    const second = lookFor(newRow([first]), 'secrets', [first])
    const both = [first, changeRule(second, { action: 'block', on: ['prompt'] })]
    expect(rulesOf(both)).toMatchObject([
      { name: 'email-addresses', detector: 'email-addresses', action: 'redact', on: ['prompt', 'answer'] },
      { name: 'secrets', detector: 'secrets', action: 'block', on: ['prompt'] },
    ])
    expect(writeRows([])).toBe('')
  })

  it('stay as they are written where nothing changed', () => {
    const rules = readContentRules([{ name: 'tickets', pattern: 'ACME-\\d+', action: 'flag', longest: 20 }])
    const files = writeValue(policyRules.contentRules.form, 'rules' in rules ? rules.rules : [])
    const text = Object.values(Object(files)).map(String).join()
    expect(writeRows(readRows(text) ?? [])).toBe(text)
  })

  it('are left as text where they are YAML, or not right', () => {
    expect(readRows('rules:\n  - name: keys')).toBeNull()
    expect(readRows('{"rules": [{"name": "keys"}]}')).toBeNull()
    expect(readRows(' ')).toEqual([])
  })

  it('have names of their own, which follow what is looked for until somebody writes one', () => {
    const first = newRow([])
    const second = newRow([first])
    expect(second.rule.name).toBe('email-addresses-2')
    const pattern = lookFor(second, ownPattern, [first, second])
    expect(pattern.rule).toMatchObject({ name: 'pattern', detector: null, pattern: '' })
    const named = changeRule(pattern, { name: 'tickets', pattern: 'ACME-\\d+' })
    expect(lookFor(named, 'secrets', [first, named]).rule).toMatchObject({ name: 'tickets', pattern: null })
  })

  it('keep a written pattern while a detector is looked at', () => {
    const row = changeRule(lookFor(newRow([]), ownPattern, []), { pattern: 'ACME-\\d+', longest: 20 })
    const looked = lookFor(row, 'secrets', [row])
    expect(looked.rule).toMatchObject({ detector: 'secrets', pattern: null })
    expect(lookFor(changeRule(looked, { action: 'block' }), ownPattern, [looked]).rule).toMatchObject({
      detector: null,
      pattern: 'ACME-\\d+',
      longest: 20,
    })
    const [read] = readRows(writeRows([row])) ?? []
    expect(read === undefined ? null : lookFor(lookFor(read, 'secrets', []), ownPattern, []).rule.pattern).toBe(
      'ACME-\\d+',
    )
  })

  it('put back in the answer only what was redacted in the prompt', () => {
    const row = changeRule(newRow([]), { reversible: true })
    expect(row.rule.reversible).toBe(true)
    expect(changeRule(row, { action: 'flag' }).rule.reversible).toBe(false)
    expect(changeRule(row, { on: ['answer'] }).rule.reversible).toBe(false)
    expect(only(readRows(writeRows([row]))).rule).toEqual(row.rule)
  })
})
