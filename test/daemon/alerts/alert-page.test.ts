import { expect, it } from 'vitest'
import type { AlertType } from '../../../src/core/alert.ts'
import { alertPage } from '../../../src/daemon/alerts/alert-page.ts'

it.each<[AlertType, string, string]>([
  ['budget.spent', 'policy:a b', '/settings/policies?find=a%20b'],
  ['budget.threshold', 'provider:openai', '/providers/openai'],
  ['errors.high', 'requests', '/requests?errors=true'],
  ['expiry.soon', 'key:default/production/web', '/keys?find=web'],
  ['expiry.soon', 'certificate:gateway', '/'],
  ['disk.low', 'disk', '/'],
  ['test', 'alert:<ops>', '/'],
])('%s of %s', (type, resource, page) => {
  const data = { resource, scope: null, percent: null, text: '' }
  expect(alertPage({ type, data }, 'https://spgw.example/')).toBe(`https://spgw.example${page}`)
})
