import { afterEach, describe, expect, it } from 'vitest'
import type { LimitUsage } from '../../src/admin/contract/show-limit.ts'
import { drawCompared } from '../../tui/pages/compared.ts'
import { drawLimits } from '../../tui/pages/limits.ts'
import { readPlan, rejectUnset } from '../../tui/result-lines.ts'
import type { TextTheme } from '../../tui/screen.ts'
import { type Driven, drive, provider } from './drive.ts'

/** Paints by name, so that a test sees the tone. */
const theme: TextTheme = {
  ...{ now: Date.parse('2026-11-21T12:00:00Z'), utc: true, colour: true, width: 80 },
  paint: (tone, text) => (tone === 'quiet' || tone === 'strong' ? text : `<${tone}>${text}`),
  cursor: (character) => character,
}

describe('a list that is read again', () => {
  let driven: Driven
  afterEach(() => driven.stop())
  const other = { ...provider, id: 'prv_2', name: 'azure' }

  it('has room for whatever comes into sight, however far down', async () => {
    const many = Array.from({ length: 800 }, (_, index) => ({ ...provider, id: `prv_${index}`, name: `p${index}` }))
    driven = drive({
      'providers.list': [...many, { ...provider, id: 'prv_last', name: 'the-longest-name' }],
    })
    await driven.press('2')
    await driven.see('p0')
    await driven.press('G')
    expect(driven.text()).toContain('the-longest-name')
  })

  it('says that there may be more where it has only the newest', async () => {
    const entry = (id: number) => ({ id: `aud_${id}`, operation: 'keys.create', time: '2026-11-21T11:00:00Z' })
    let count = 3
    driven = drive({ 'audit.list': () => Array.from({ length: count }, (_, id) => entry(id)) })
    await driven.press('=:audit', 'enter')
    expect(await driven.see('3 rows')).not.toContain('newest')
    count = 200
    await driven.press('r')
    await driven.see('the newest 200 rows')
    expect(driven.calls.findLast(({ path }) => path === 'audit.list')?.input).toMatchObject({ limit: 200 })
  })

  it('says that it is old only until it is fresh again', async () => {
    let fails = false
    const refused = Object.assign(new Error('It is degraded.'), { code: 'degraded', status: 503, data: { hint: '' } })
    driven = drive({ 'providers.list': () => (fails ? Promise.reject(refused) : [provider]) })
    await driven.press('2')
    await driven.see('openai')
    fails = true
    await driven.press('r')
    await driven.see('Out of date')
    fails = false
    await driven.press('r')
    await driven.until(() => !driven.text().includes('Out of date'))
    expect(driven.text()).toContain('openai')
  })

  it('keeps to the row that was chosen, wherever it is by then', async () => {
    let rows = [provider, other]
    driven = drive({ 'providers.list': () => rows })
    await driven.press('2')
    await driven.see('▸ openai')
    rows = [{ ...provider, id: 'prv_0', name: 'added' }, other, provider]
    await driven.press('r')
    await driven.see('added')
    expect(driven.text()).toContain('▸ openai')
  })

  it('closes what it shows of a row that is gone, and of no other', async () => {
    let rows = [provider, other]
    driven = drive({ 'providers.list': () => rows, 'providers.show': provider })
    const isOpen = () => driven.text(200).includes('https://api.openai.com/v1')
    await driven.press('2')
    await driven.see('▸ openai')
    await driven.press('enter')
    await driven.until(isOpen)
    rows = [provider]
    await driven.press('r')
    await driven.until(() => !driven.text(200).includes('azure'))
    expect(isOpen()).toBe(true)
    rows = [other]
    await driven.press('r')
    await driven.until(() => driven.text(200).includes('▸ azure'))
    expect(isOpen()).toBe(false)
  })
})

describe('a limit', () => {
  const usage = (more: object): LimitUsage & object => ({
    ...{ scope: 'workspace', kind: 'requests', period: null, used: 0, limit: 100, resets_at: '2026-11-21T12:00:30Z' },
    ...more,
  })
  const draw = (more: object) => drawLimits([usage(more)], 80, theme).join('\n')

  it.each([
    [79, 0, 'good'],
    [80, 0, 'warning'],
    [40, 40, 'warning'],
    [99, 0, 'warning'],
    [100, 0, 'bad'],
    [60, 40, 'bad'],
  ])('of which %i are used and %i held has the tone of what is left', (used, held, tone) => {
    expect(draw({ used, held })).toContain(`<${tone}>█`)
  })

  it('of nothing is used up', () => {
    expect(draw({ limit: 0 })).toContain('<bad>')
  })

  it('shows a little use as some, and never more than all', () => {
    expect(draw({ used: 1, limit: 100_000 })).toMatch(/<good>█·+/)
    expect(draw({ used: 500 })).toMatch(/█{20} /)
  })

  it('of a minute resets once something was used, one of a day in any case', () => {
    expect(draw({ used: 0 })).not.toContain('resets')
    expect(draw({ used: 1 })).toContain('resets')
    expect(draw({ used: 0, period: 'day' })).toContain('resets')
  })
})

describe('a replay beside its request', () => {
  const compare = (event: object) => drawCompared(event, { width: 80, theme }).join('\n')
  const took = (before: number, after: number) =>
    compare({
      before: { duration_ms: before, answer: 'a' },
      after: { duration_ms: after, answer: 'a' },
      difference: { duration_ms: after - before },
    })

  it('has a sign at what became more and what became less, and nothing where it is the same', () => {
    expect(took(100, 350)).toMatch(/time +100 ms +350 ms +\+250 ms/)
    expect(took(350, 100)).toMatch(/time +350 ms +100 ms +-250 ms/)
    expect(took(100, 100)).toMatch(/time +100 ms +100 ms$/m)
  })

  it('says that texts are the same only where there are texts', () => {
    expect(took(1, 1)).toContain('Text, identical')
    const neither = compare({ before: { answer: null }, after: { answer: null } })
    expect(neither).not.toContain('identical')
    expect(neither.match(/not stored/g)).toHaveLength(2)
  })
})

describe('a plan of files', () => {
  const plan = { owner: 'files', changes: [], notes: [], adopted: 0, released: 0, problems: [], unset: [], expect: {} }
  const missing = { place: 'a.yaml:1:2', message: 'the variable KEY is not set' }

  it('is refused with every mistake in its place', () => {
    const problems = [missing, { place: 'a.yaml:3:1', message: 'unknown field' }]
    const text = 'a.yaml:1:2: the variable KEY is not set; a.yaml:3:1: unknown field'
    expect(() => readPlan({ ...plan, problems })).toThrow(text)
    expect(readPlan(plan)).toBe(plan)
  })

  it('can be read, and not applied, while a variable is missing', () => {
    const unset = readPlan({ ...plan, unset: [missing] })
    expect(() => rejectUnset(unset)).toThrow('a.yaml:1:2: the variable KEY is not set')
    expect(rejectUnset(plan)).toBeUndefined()
  })
})
