import { describe, expect, it } from 'vitest'
import { findRefusal, type UsersReader } from '../../../src/console/app/areas/operations/find-refusal.ts'

/** A gateway with one of each that uses something; `away` are lists that cannot be read. */
function reader(away: string[] = []) {
  const read: string[] = []
  const list =
    <Row>(noun: string, row: Row) =>
    async (input: object) => {
      read.push(`${noun} ${JSON.stringify(input)}`)
      if (away.includes(noun)) throw new Error('forbidden')
      return [row]
    }
  const scope = { project: 'search', environment: 'production' }
  const production = { project: 'search', name: 'production', default_providers: {} }
  const anna = { name: 'anna', state: 'active', grants: [{ project: null, role: 'owner' }] }
  const admin: UsersReader = {
    routes: { list: list('routes', { ...scope, model: 'smart', targets: [{ provider: 'openai' }], shadow: null }) },
    environments: { list: list('environments', production) },
    keys: { list: list('keys', { ...scope, name: 'web', policy: 'team', state: 'active' }) },
    operators: { list: list('operators', anna) },
  }
  return { admin, read }
}

const everything = ['routes {"all":true}', 'environments {"all":true}', 'keys {"all":true}']

describe('what an operation would be refused for', () => {
  it.each([
    ['providers.remove', { name: 'openai' }, 'route smart'],
    ['policies.remove', { name: 'team' }, 'key web'],
    ['projects.remove', { name: 'search' }, 'route smart'],
    ['environments.remove', { name: 'production', project: 'search' }, 'key web'],
  ])('is found by %s among all that uses it, in every project', async (operation, input, user) => {
    const { admin, read } = reader()
    expect(await findRefusal(admin, operation, input)).toContain(user)
    expect(read).toEqual(everything)
  })

  it.each(['operators.remove', 'operators.disable'])('is found by %s among operators alone', async (operation) => {
    const { admin, read } = reader()
    expect(await findRefusal(admin, operation, { name: 'anna' })).toContain('anna is the last owner')
    expect(read).toEqual(['operators {}'])
  })

  it('is nothing where nothing uses it, or where it cannot be read', async () => {
    expect(await findRefusal(reader().admin, 'providers.remove', { name: 'idle' })).toBeNull()
    for (const noun of ['routes', 'environments', 'keys'])
      expect(await findRefusal(reader([noun]).admin, 'providers.remove', { name: 'openai' })).toBeNull()
    expect(await findRefusal(reader(['operators']).admin, 'operators.remove', { name: 'anna' })).toBeNull()
  })

  it('is not asked of what nothing else can use', async () => {
    const { admin, read } = reader()
    for (const operation of ['keys.revoke', 'routes.remove', 'requests.purge'])
      expect(await findRefusal(admin, operation, { name: 'openai' })).toBeNull()
    expect(read).toEqual([])
  })
})
