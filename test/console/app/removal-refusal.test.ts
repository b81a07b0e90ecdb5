import { describe, expect, it } from 'vitest'
import { isLastOwner, refusalOf, type Users } from '../../../src/console/app/areas/removal-refusal.ts'

const scope = { project: 'default', environment: 'production' }
const users: Users = {
  routes: [
    { ...scope, model: 'smart', targets: [{ provider: 'openai' }], shadow: 'azure:small' },
    { ...scope, environment: null, model: 'fast', targets: [{ provider: 'groq' }], shadow: null },
  ],
  environments: [
    { name: 'staging', project: 'search', default_providers: { openai: 'files', anthropic: null, gemini: null } },
  ],
  keys: [
    { ...scope, name: 'web', policy: 'team', state: 'active' },
    { ...scope, name: 'old', policy: 'gone', state: 'revoked' },
  ],
  operators: [
    { name: 'anna', state: 'active', grants: [{ project: null, role: 'owner' }] },
    { name: 'bob', state: 'disabled', grants: [{ project: null, role: 'owner' }] },
    { name: 'vera', state: 'active', grants: [{ project: 'search', role: 'viewer' }] },
  ],
}
const refused = (operation: string, input: Record<string, unknown>) => refusalOf(operation, input, users)

describe('what would be refused', () => {
  it('is known of a provider: as a target, as a shadow, and as a default', () => {
    expect(refused('providers.remove', { name: 'openai' })).toBe(
      'The provider openai cannot be removed while it is used by route smart (default/production). Change or remove what uses it first.',
    )
    expect(refused('providers.remove', { name: 'azure' })).toContain('route smart')
    expect(refused('providers.remove', { name: 'groq' })).toContain('route fast (default/all)')
    expect(refused('providers.remove', { name: 'files' })).toContain('the defaults of search/staging')
    expect(refused('providers.remove', { name: 'idle' })).toBeNull()
  })

  it('is known of policies, projects and environments; what is revoked keeps nothing', () => {
    expect(refused('policies.remove', { name: 'team' })).toContain('key web (default/production)')
    expect(refused('policies.remove', { name: 'gone' })).toBeNull()
    expect(refused('projects.remove', { name: 'default' })).toContain('route smart')
    expect(refused('projects.remove', { name: 'search' })).toBeNull()
    expect(refused('environments.remove', { name: 'production', project: 'default' })).toContain('key web')
    expect(refused('environments.remove', { name: 'staging', project: 'default' })).toBeNull()
  })

  it('is known of the last owner who can sign in', () => {
    for (const operation of ['operators.remove', 'operators.disable'])
      expect(refused(operation, { name: 'anna' })).toContain('anna is the last owner')
    expect(refused('operators.remove', { name: 'vera' })).toBeNull()
    const [anna] = users.operators
    const both = anna === undefined ? [] : [anna, { ...anna, name: 'carl' }]
    expect(isLastOwner('anna', both)).toBe(false)
  })

  it('is nothing of what only removes itself', () => {
    expect(refused('routes.remove', { model: 'smart' })).toBeNull()
    expect(refused('keys.remove', { key: 'web' })).toBeNull()
  })
})
