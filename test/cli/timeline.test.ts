import { describe, expect, it } from 'vitest'
import { renderTimeline } from '../../cli/print/timeline.ts'
import { makePaint } from '../../cli/print/view.ts'
import type { AttemptRecord } from '../../src/core/record.ts'
import { sampleRecord } from '../support/sample-record.ts'

const view = { width: 100, paint: makePaint(false), now: 0, utc: true }
const attempt = (change: Partial<AttemptRecord>): AttemptRecord => ({
  provider: 'openai',
  upstream_model: 'gpt',
  status: 200,
  outcome: 'answered',
  started_ms: 0,
  connected_ms: null,
  first_byte_ms: null,
  ended_ms: 100,
  message: null,
  cost: null,
  ...change,
})

describe('the time line', () => {
  it('draws the wait between two attempts, and how each of them ended', () => {
    const lines = renderTimeline(
      sampleRecord({
        model: 'gpt',
        duration_ms: 1000,
        attempts: [
          attempt({ status: 429, outcome: 'retry', ended_ms: 100 }),
          attempt({ started_ms: 750, first_byte_ms: 900, ended_ms: 1000 }),
        ],
      }),
      view,
    )
    expect(lines.map((line) => line.replace(/\s+/g, ' '))).toEqual([
      expect.stringMatching(/^openai: 429 0 ms – 100 ms ·+×$/),
      expect.stringMatching(/^wait 100 ms – 750 ms ┄+$/),
      expect.stringMatching(/^openai: 200 750 ms – 1\.0 s ·+━+$/),
    ])
    const [failed, wait, answered] = lines.map((line) => line.search(/[·×┄━]/))
    expect(failed).toBeLessThan(wait ?? 0)
    expect(wait).toBeLessThan(answered ?? 0)
  })

  it('has no wait where the next attempt began at once', () => {
    const attempts = [
      attempt({ outcome: 'fallback' }),
      attempt({ provider: 'azure', started_ms: 100.4, ended_ms: 200 }),
    ]
    expect(renderTimeline(sampleRecord({ attempts }), view).join('\n')).not.toContain('wait')
  })

  it('says how an attempt ended however long the name of its target is', () => {
    const attempts = [attempt({ provider: 'anthropic', upstream_model: 'claude-opus-4-8-20270101' })]
    const lines = renderTimeline(sampleRecord({ model: 'm', duration_ms: 100, attempts }), view)
    expect(lines.join('\n')).toMatch(/^anthropic \(claude-op.*…: 200 /m)
  })

  it('names a target that was skipped, before the attempts', () => {
    const lines = renderTimeline(
      sampleRecord({
        model: 'gpt',
        timeline: [
          { event: 'received', at_ms: 0 },
          { event: 'done', at_ms: 100 },
        ],
        routing_signals: [
          { rule: 'target', verdict: 'taken', text: 'azure: ready.', data: { provider: 'azure' } },
          { rule: 'target', verdict: 'skipped', text: 'openai: paused.', data: { provider: 'openai', at_ms: 0.5 } },
        ],
        attempts: [attempt({ provider: 'azure', started_ms: 1 })],
      }),
      view,
    )
    expect(lines.map((line) => line.trim().split(/ {2,}/)[0])).toEqual([
      'received',
      'openai: skipped',
      'azure: 200',
      'done',
    ])
  })

  it('keeps a name from moving the cursor', () => {
    const attempts = [attempt({ provider: '\u001b[2J' })]
    expect(renderTimeline(sampleRecord({ attempts }), view).join('\n')).not.toContain('\u001b')
  })
})
