import { expect, it } from 'vitest'
import { figuresOf } from '../../../src/console/app/areas/requests/signal-figures.ts'

it('the figures of a signal are named in words, with their units, and never as the fields of a record', () => {
  expect(figuresOf({ rule: 'retry', data: { delay_ms: 1000 } })).toBe('delay 1.0 s')
  expect(figuresOf({ rule: 'target', data: { provider: 'demo', upstream_model: 'demo-large' } })).toBe(
    'provider demo · upstream model demo-large',
  )
  expect(figuresOf({ rule: 'route', data: { route: 'rte_1', pattern: 'demo*' } })).toBe('rte_1 · pattern demo*')
  expect(figuresOf({ rule: 'key' })).toBe('')
})
