import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { stylePolicy } from '../../src/console/page-frame.ts'
import { renderElsewhere, renderStatus } from '../../src/console/status-page.ts'
import { sampleState } from './open-door.ts'

const hostile = `</code><script>alert(1)</script>"'&`

/** As a person reads it. */
const words = (page: string) =>
  page
    .replace(/<style>[\s\S]*<\/style>/, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')

describe('the status page', () => {
  it('says that all is well, and how much there is', () => {
    const page = words(renderStatus('1.2.3', sampleState({ requestsSinceStart: 48_213, databaseBytes: 48_200_000 })))
    for (const said of ['1.2.3', 'Ready', 'http://127.0.0.1:8787', '48,213', '48 MB', 'openai', 'Everything is set up'])
      expect(page).toContain(said)
  })

  it('says what is degraded, and why', () => {
    const page = words(
      renderStatus(
        '1.2.3',
        sampleState({
          parts: [{ part: 'journal', reason: 'no space left', since: '2026-01-02T03:04:05.000Z', times: 1 }],
        }),
      ),
    )
    expect(page).toContain('Degraded: journal since 2026-01-02 03:04:05 UTC')
    expect(page).toContain('no space left')
    expect(page).not.toContain('Ready spgw')
  })

  it('tells a provider’s state in words', () => {
    const provider = { name: 'azure', kind: 'openai', state: 'failing', reason: 'The credential was refused.' } as const
    expect(words(renderStatus('1', sampleState({ providers: [provider] })))).toMatch(
      /Failing *: *The credential was refused\./,
    )
  })

  it('leads an empty gateway to its first request, by commands', () => {
    const page = renderStatus('1', sampleState({ providers: [], routes: 0, keys: 0, requestsSinceStart: 0 }))
    const marks = [...page.matchAll(/aria-label="(\w+)"/g)].map(([, mark]) => mark)
    expect(marks).toEqual(['next', 'open', 'open', 'open', 'open'])
    for (const command of [
      'spgw providers add',
      'spgw routes add',
      'spgw keys create',
      'curl -s http://127.0.0.1:8787',
    ])
      expect(page).toContain(command)
    expect(page).toContain('SPGW_DATA_DIR=/var/lib/spgw')
  })

  it('lets no name become markup', () => {
    const provider = { name: hostile, kind: hostile, state: 'failing', reason: hostile } as const
    const page = renderStatus(
      hostile,
      sampleState({
        gatewayUrl: hostile,
        dataDirectory: hostile,
        providers: [provider],
        parts: [{ part: 'store', reason: hostile, since: hostile, times: 1 }],
        setAside: [hostile],
        exampleModel: hostile,
      }),
    )
    expect(page).not.toContain('<script')
    expect(page).not.toContain(hostile)
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;')
  })

  it('has the one style that its policy lets in, and no script', () => {
    for (const page of [renderStatus('1', sampleState()), renderElsewhere(8788)]) {
      const style = /<style>([\s\S]*)<\/style>/.exec(page)?.[1] ?? ''
      expect(stylePolicy).toBe(`'sha256-${createHash('sha256').update(style).digest('base64')}'`)
      expect(page).not.toMatch(/<script| style=| on\w+=/)
    }
  })
})
