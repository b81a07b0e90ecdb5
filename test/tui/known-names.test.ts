import { describe, expect, it } from 'vitest'
import { catalog } from '../../cli/catalog.ts'
import { deriveAreas } from '../../tui/areas.ts'
import { GatewayLink } from '../../tui/gateway-link.ts'
import { KnownNames } from '../../tui/known-names.ts'

function knownNames(answers: Record<string, unknown>) {
  const asked: [string, object][] = []
  const link = new GatewayLink(
    async () => ({
      async call(path, input) {
        const name = path.join('.')
        asked.push([name, input])
        const answer = answers[name]
        if (answer instanceof Error) throw answer
        return answer ?? []
      },
    }),
    () => {},
  )
  let changes = 0
  const names = new KnownNames(deriveAreas(catalog), link, () => changes++)
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return {
    of: (name: string, now = 0, scope = {}) => names.of({ name }, now, scope),
    asked,
    settle,
    changes: () => changes,
  }
}

describe('the names that a field may take', () => {
  it.each([
    ['provider', 'providers.list', [{ name: 'openai' }, { name: 'azure' }], ['openai', 'azure']],
    ['policy', 'policies.list', [{ name: 'small' }], ['small']],
    ['project', 'projects.list', [{ name: 'search' }], ['search']],
    ['kind', 'providers.kinds', [{ kind: 'openai' }, { kind: 'vertex' }], ['openai', 'vertex']],
    ['routes', 'routes.list', [{ model: 'gpt-4o' }, { model: 'gpt-4o' }], ['gpt-4o']],
  ])('%s are those of %s, each once', async (field, operation, rows, wanted) => {
    const { of, settle, asked, changes } = knownNames({ [operation]: rows })
    expect(of(field)).toEqual([])
    await settle()
    expect(of(field)).toEqual(wanted)
    expect([asked.map(([name]) => name), changes()]).toEqual([[operation], 1])
  })

  it('are those of every project, whichever is shown', async () => {
    const { of, settle, asked } = knownNames({})
    of('key')
    await settle()
    expect(asked).toEqual([['keys.list', { all: true }]])
  })

  it('are those of the project and environment that are written beside it', async () => {
    const { of, settle } = knownNames({
      'keys.list': [
        { name: 'web', project: 'search', environment: 'production' },
        { name: 'ci', project: 'default', environment: 'production' },
        { name: 'dev', project: 'default', environment: 'staging' },
      ],
      'routes.list': [{ model: 'gpt-4o', project: 'default', environment: null }],
      'policies.list': [{ name: 'small' }],
    })
    of('key')
    of('route')
    of('policy')
    await settle()
    const scope = { project: 'default', environment: 'production' }
    expect(of('key', 0, scope)).toEqual(['ci'])
    expect(of('key', 0, { project: 'search' })).toEqual(['web'])
    expect([of('route', 0, scope), of('policy', 0, scope)]).toEqual([['gpt-4o'], ['small']])
  })

  it('are asked for again after a while, and stay until the answer is there', async () => {
    const answers: Record<string, unknown> = { 'providers.list': [{ name: 'old' }] }
    const { of, settle, asked } = knownNames(answers)
    of('provider')
    await settle()
    answers['providers.list'] = [{ name: 'new' }]
    expect(of('provider', 5000)).toEqual(['old'])
    expect(asked).toHaveLength(1)
    expect(of('provider', 11_000)).toEqual(['old'])
    await settle()
    expect(of('provider', 11_000)).toEqual(['new'])
  })

  it('are none where the contract has no such list, or the gateway refuses', async () => {
    const { of, settle, asked } = knownNames({ 'providers.list': new Error('No.') })
    expect(of('baseUrl')).toEqual([])
    of('provider')
    await settle()
    expect(of('provider')).toEqual([])
    expect(asked).toHaveLength(1)
  })
})
