import { describe, expect, it } from 'vitest'
import type { Applied, DiffPlan } from '../../../src/console/app/areas/outputs.ts'
import {
  changeFile,
  emptyFile,
  type FileState,
  inputOfFile,
  takePlan,
} from '../../../src/console/app/areas/settings/file-state.ts'

const plan = { owner: 'default', changes: [], problems: [], unset: [], expect: { 'provider a': '1' } }
const asPlan = plan as unknown as DiffPlan
const applied = { owner: 'default', changes: [] } as unknown as Applied
const text = ['credential: $', '{KEY}'].join('')
const written = changeFile(emptyFile, { text })

describe('a configuration file in the console', () => {
  it('has a plan for what it was when it was asked for', () => {
    const planned = takePlan({ ...written, applied }, written.content, asPlan)
    expect(planned).toEqual({ ...written, plan, applied: null })
  })

  it.each<[string, Partial<FileState['content']>]>([
    ['its text', { text: 'providers: []' }],
    ['the value of a variable', { values: { KEY: 'other' } }],
    ['an option', { options: { prune: true, force: false } }],
  ])('has no plan any more, and nothing applied, once %s is another', (_, change) => {
    const planned = takePlan(written, written.content, asPlan)
    expect(changeFile({ ...planned, applied }, change)).toEqual({
      content: { ...written.content, ...change },
      plan: null,
      applied: null,
    })
  })

  it('takes no plan that comes after it has changed', () => {
    const later = changeFile(written, { values: { KEY: 'other' } })
    expect(takePlan(later, written.content, asPlan)).toBe(later)
  })

  it('drops the plan it had where a new one cannot be made', () => {
    const planned = takePlan(written, written.content, asPlan)
    expect(takePlan(planned, planned.content, null).plan).toBeNull()
  })

  it('sends a value for each variable that the text names, and for no other', () => {
    const filled = changeFile(written, { values: { OTHER: 'x' }, options: { prune: true, force: false } })
    expect(inputOfFile(filled.content)).toEqual({
      files: { 'pasted.yaml': text },
      variables: { KEY: '' },
      prune: true,
      force: false,
    })
    expect(inputOfFile(changeFile(filled, { values: { KEY: 'sk' } }).content).variables).toEqual({ KEY: 'sk' })
  })
})
