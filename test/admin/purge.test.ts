import { describe, expect, it } from 'vitest'
import type { PurgeQuestion } from '../../src/store/api.ts'
import { refusal, startTestGateway } from './gateway.ts'

const middle = 'req_01abcdefghjkmnpqrstvwxyz00'

/** A gateway whose records go in two slices; `asked` has what was asked of the store. */
async function start() {
  const gateway = await startTestGateway()
  const asked: PurgeQuestion[] = []
  gateway.parts.store.purge = async (question) => {
    asked.push(question)
    return question.filter.before === undefined ? { removed: 100, before: middle } : { removed: 20, before: null }
  }
  const purge = async (input: Parameters<typeof gateway.client.requests.purge>[0]) => {
    const events = []
    for await (const event of await gateway.client.requests.purge(input)) events.push(event)
    return events
  }
  return { client: gateway.client, asked, purge }
}

describe('records that are deleted', () => {
  it('go slice by slice, each from where the last one ended, and the sum is told at the end', async () => {
    const { asked, purge } = await start()
    expect((await purge({ until: '30d', key: 'ci' })).at(-1)).toEqual({
      done: true,
      removed: 120,
      time: null,
      missing: [],
    })
    expect(asked.map(({ bodies, filter }) => [bodies, filter.key, filter.before])).toEqual([
      [false, 'ci', undefined],
      [false, 'ci', middle],
    ])
    expect(new Set(asked.map(({ filter }) => filter.until)).size).toBe(1)
  })

  it('are in the audit before they go, with which they were', async () => {
    const { client, purge } = await start()
    await purge({ until: '2026-03-01', user: 'u-42', bodies: true })
    await purge({ until: '2026-03-01', tags: ['team=search'] })
    const lines = await client.audit.list({ operation: 'requests.purge' })
    const until = '2026-03-01T00:00:00.000Z'
    expect(lines.map(({ resource, after }) => [resource?.name, after])).toEqual([
      ['records', { tags: { team: 'search' }, until }],
      ['bodies', { tags: { user: 'u-42' }, until }],
    ])
  })

  it('are those of one end user, and none where two are named', async () => {
    const { asked, purge } = await start()
    await purge({ until: '0s', tags: ['team=search'], user: 'u-42' })
    expect(asked.shift()?.filter.tags).toEqual({ team: 'search', user: 'u-42' })
    await purge({ until: '0s', tags: ['user=u-42'], user: 'u-42' })
    expect(asked.at(-1)?.filter.tags).toEqual({ user: 'u-42' })
    await purge({ until: '0s', tags: ['user'], user: 'u-42' })
    expect(asked.at(-1)?.filter.tags).toEqual({ user: 'u-42' })
    asked.length = 0
    expect(await refusal(purge({ until: '0s', tags: ['user=u-1'], user: 'u-42' }))).toMatchObject({
      ...{ code: 'invalid', message: '--user and --tag user=… name different users.' },
    })
    expect(asked).toEqual([])
  })

  it('have all tags that are named: a name alone adds nothing to a value, and two values of one tag are refused', async () => {
    const { asked, purge } = await start()
    await purge({ until: '0s', tags: ['team=search', 'team', 'run', '__proto__=x'] })
    expect(Object.entries(asked.at(-1)?.filter.tags ?? {})).toEqual([
      ['team', 'search'],
      ['run', null],
      ['__proto__', 'x'],
    ])
    asked.length = 0
    expect(await refusal(purge({ until: '0s', tags: ['team=search', 'team=chat'] }))).toMatchObject({
      ...{ code: 'invalid', message: '--tag names two values of team, and no request has both.' },
    })
    expect(asked).toEqual([])
  })
})
