import { call, isProcedure } from '@orpc/server'
import { describe, expect, it } from 'vitest'
import { listOperations } from '../../src/admin/contract/operations.ts'
import type { AdminContext, Caller } from '../../src/admin/handlers/context.ts'
import { router } from '../../src/admin/handlers/index.ts'
import { refusal, startTestGateway } from './gateway.ts'

const roles = ['viewer', 'admin', 'owner'] as const

function procedureAt(path: readonly string[]) {
  let place: unknown = router
  for (const step of path) place = typeof place === 'object' && place !== null ? Reflect.get(place, step) : undefined
  if (!isProcedure(place)) throw new Error(`no handler for ${path.join('.')}`)
  return place
}

describe('every handler', () => {
  it('asks for the role of its operation before it looks at anything else', async () => {
    const { parts } = await startTestGateway()
    for (const { name, path, meta } of listOperations()) {
      for (const role of roles) {
        const caller: Caller = { name: role, surface: 'console', role }
        const context: AdminContext = { ...parts, caller, closing: new AbortController().signal }
        const allowed = roles.indexOf(role) >= roles.indexOf(meta.role)
        // An input that is never valid: whoever is let in is told so, and nothing happens.
        const { code, message } = await refusal(call(procedureAt(path), { nonsense: true }, { context, path }))
        expect(code, `${name} as ${role}`).toBe(allowed ? 'invalid' : 'refused')
        if (!allowed) expect(message).toContain(`needs the role ${meta.role}`)
      }
    }
  })

  it('tells the caller of a fault of our own only that there was one', async () => {
    const { parts, faults } = await startTestGateway()
    const broken = { ...parts.runtime, publish: () => Promise.reject(new Error('inner workings')) }
    const caller: Caller = { name: 'local owner', surface: 'cli', role: 'owner' }
    const context: AdminContext = { ...parts, runtime: broken, caller, closing: new AbortController().signal }
    const path = ['projects', 'add']
    const { code, message } = await refusal(call(procedureAt(path), { name: 'search' }, { context, path }))
    expect(code).toBe('INTERNAL_SERVER_ERROR')
    expect(message).not.toContain('inner workings')
    expect(faults).toEqual([expect.objectContaining({ message: 'inner workings' })])
  })
})
