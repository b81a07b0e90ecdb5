import { expect, it } from 'vitest'
import { renderAuditEntry, renderAuditVerdict } from '../../cli/print/audit-entry.ts'
import { makePaint } from '../../cli/print/view.ts'
import { sampleNow } from './fake-io.ts'

const view = { width: null, paint: makePaint(false), now: sampleNow, utc: false }
const line = {
  id: 'aud_01kj0000000000000000000000',
  sequence: 7,
  time: new Date(sampleNow - 3000).toISOString(),
  actor: 'anna',
  actor_id: 'opr_1',
  surface: 'console',
  address: '10.0.0.7',
  operation: 'routes.edit',
  resource: { kind: 'route', id: 'rte_1', name: 'gpt-4o' },
  project: 'search',
  before: { model: 'gpt-4o', retries: 1, timeouts: { total_ms: null, connect_ms: 5000 }, tags: {} },
  after: {
    model: 'gpt-4o',
    retries: 2,
    timeouts: { total_ms: 60_000, connect_ms: 5000 },
    tags: { team: '\u001b[31m' },
  },
  previous_hash: 'a'.repeat(64),
  hash: 'b'.repeat(64),
}

it('shows who did what, and only what differs', () => {
  expect(renderAuditEntry(line, view)).toBe(`routes.edit  route gpt-4o of project search
by anna via console from 10.0.0.7, 3 s ago (${line.time})

Changed
  retries            1 → 2
  timeouts.total_ms  – → 1 min
  tags.team          – → \\u001b[31m

Entry          7, aud_01kj0000000000000000000000
Previous hash  ${'a'.repeat(64)}
Hash           ${'b'.repeat(64)}
`)
})

it.each([
  [{ ...line, before: null }, 'After\n  model'],
  [{ ...line, after: null }, 'Before\n  model'],
  [{ ...line, before: null, after: null }, 'No recorded value changed.'],
  [{ ...line, after: 'a word', before: null }, 'After\n  value  a word'],
])('shows what there is: %#', (output, text) => {
  expect(renderAuditEntry(output, view)).toContain(text)
})

const mark = { sequence: 28, id: 'aud_28', time: new Date(sampleNow - 3000).toISOString(), hash: 'c'.repeat(64) }

it('says in words whether the chain is whole', () => {
  const whole = { ok: true, problem: null, lines: 28, head: mark, broken: null, noted: null }
  expect(renderAuditVerdict(whole, view)).toBe(`✓ No entry of the audit log was changed, added or removed: 28 entries.
Last entry  28, aud_28, 3 s ago
Hash        ${'c'.repeat(64)}
`)
  const broken = {
    ...whole,
    ok: false,
    problem: 'Line 3 (aud_3): its hash is wrong.',
    broken: { ...mark, sequence: 3 },
  }
  const text = renderAuditVerdict(broken, view)
  expect(text).toContain(
    '× The audit log was changed: Line 3 (aud_3): its hash is wrong.\nFirst wrong entry  3, aud_28',
  )
  expect(text).not.toMatch(/head|sequence|=/i)
})
