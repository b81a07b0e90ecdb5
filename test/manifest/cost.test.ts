import { describe, expect, it } from 'vitest'
import { resolveAttachments } from '../../src/manifest/attachments.ts'
import { boundProblems } from '../../src/manifest/bounded-problems.ts'
import { checkOutcome } from '../../src/manifest/check.ts'
import { type ManifestPlan, makePlan } from '../../src/manifest/plan.ts'
import { readDocuments } from '../../src/manifest/read.ts'
import type { ManifestResource } from '../../src/manifest/resource.ts'
import { growth } from '../support/count-steps.ts'
import { outcomeOf } from './entries.ts'

/** Files and states of `size` resources, each made so that comparing everything with everything would show. */
const scope = 'projects: [{ name: default, environments: [production] }]\nproviders: [{ name: p, kind: demo }]\n'
const lines = (size: number, line: (at: number) => string) => Array.from({ length: size }, (_, at) => line(at)).join('')
const padded = (at: number) => String(at).padStart(6, '0')

const files: Record<string, (size: number) => string> = {
  'routes by name': (size) => `${scope}routes:\n${lines(size, (at) => `  - { model: m${at}, provider: p }\n`)}`,
  'patterns of one length': (size) =>
    `${scope}routes:\n${lines(size, (at) => `  - { model: 'm${padded(at)}*', provider: p }\n`)}`,
  'patterns that tie': (size) =>
    `${scope}routes:\n${lines(size, (at) => `  - { model: '${'a'.repeat(at % 50)}*${'a'.repeat(50 - (at % 50))}', provider: p, project: p${at} }\n`)}`,
  'a provider for each route': (size) =>
    `${scope}routes:\n${lines(size, (at) => `  - { model: m${at}, provider: p${at} }\n`)}`,
  'keys and what is attached to them': (size) =>
    `${scope}keys:\n${lines(size, (at) => `  - { name: k${at} }\n`)}policies:\n  - name: all\n    attach: [${lines(size, (at) => `key:k${at}, `)}]\n`,
  'a provider for many projects': (size) =>
    `projects:\n${lines(size, (at) => `  - { name: p${at}, environments: [production] }\n`)}providers: [{ name: p, kind: demo, projects: [${lines(size, (at) => `p${at}, `)}] }]\nroutes:\n${lines(size, (at) => `  - { model: m, project: p${at}, provider: p }\n`)}`,
  'fields of one resource': (size) =>
    `providers:\n  - name: p\n    kind: demo\n    settings:\n${lines(size, (at) => `      s${at}: 1\n`)}`,
  'names that nobody knows': (size) => `providers:\n  - name: p\n${lines(size, (at) => `    s${at}: 1\n`)}`,
  'the same entry again and again': (size) => `routes:\n${lines(size, () => '  - { model: m, provider: p }\n')}`,
  'keys of one secret': (size) =>
    `${scope}keys:\n${lines(size, (at) => `  - { name: k${at}, sha256: ${'a'.repeat(64)}, last_four: aaaa }\n`)}`,
}

const read = (text: string) => readDocuments([{ name: 'a.yaml', text }], {})

async function planOf(text: string, resources: readonly ManifestResource[] = []): Promise<ManifestPlan> {
  const { entries, problems } = read(text)
  const attached = resolveAttachments(entries, resources, problems)
  const plan = await makePlan({ resources, entries: attached, owner: 'file', prune: true, force: false })
  plan.problems.push(...problems, ...(await checkOutcome(plan, () => true)))
  return plan
}

describe.each(Object.keys(files))('%s', (name) => {
  const file = files[name] ?? String

  it('cost as much more as there are more of them: to read, to plan and to check', async () => {
    expect(await growth((size) => planOf(file(size)), 200)).toBeLessThan(2.4)
  })

  it('cost as much more to compare with a state of as many, and to remove', async () => {
    const states = new Map<number, ManifestResource[]>()
    for (const size of [200, 400]) states.set(size, outcomeOf(await planOf(file(size)), [], 'file'))
    expect(await growth((size) => planOf(file(size), states.get(size)), 200)).toBeLessThan(2.4)
    expect(await growth((size) => planOf('policies: []', states.get(size)), 200)).toBeLessThan(2.4)
  })

  it('are answered shortly, whatever is wrong with them', async () => {
    const { problems } = await planOf(file(1500))
    expect(JSON.stringify(boundProblems(problems)).length).toBeLessThan(30_000)
  })
})

describe('what files say', () => {
  it('is bounded in number', () => {
    const { entries, problems } = read(files['routes by name']?.(10_500) ?? '')
    expect(entries.length).toBeLessThanOrEqual(10_001)
    expect(problems.at(-1)?.message).toContain('more than 10,000 resources')
  })

  it('is bounded in length, also where a variable stands for much', () => {
    const text = `policies:\n${lines(50, (at) => `  - { name: p${at}, deny_models: ['\${BIG}'] }\n`)}`
    const { problems } = readDocuments([{ name: 'a.yaml', text }], { BIG: 'x'.repeat(200_000) })
    expect(problems.at(-1)?.message).toContain('more than 4096 KiB of text')
  })

  it.each([`!${'!'.repeat(300_000)}`, '%'.repeat(300_000), `routes: [{ ${'x'.repeat(300_000)}: 1, model: a }]`])(
    'is not told back at length: %.12s',
    (text) => {
      const told = JSON.stringify(boundProblems(read(text).problems))
      expect(told.length).toBeLessThan(2000)
    },
  )
})
