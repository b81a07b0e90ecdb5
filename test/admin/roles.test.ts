import { call } from '@orpc/server'
import { describe, expect, it } from 'vitest'
import { listOperations } from '../../src/admin/contract/operations.ts'
import { mayCall, type RoleGrant, roleNames } from '../../src/admin/contract/operators/roles.ts'
import type { OperationContext } from '../../src/admin/handlers/context.ts'
import { callerWith, procedureAt } from './call-as.ts'
import { refusal, startTestGateway } from './gateway.ts'

const callers: Record<string, RoleGrant[]> = {
  nobody: [],
  'viewer of a project': [{ project: 'prj_a', role: 'viewer' }],
  'admin of a project': [{ project: 'prj_a', role: 'admin' }],
  'owner of a project': [{ project: 'prj_a', role: 'owner' }],
  viewer: [{ project: null, role: 'viewer' }],
  'viewer, and owner of a project': [
    { project: null, role: 'viewer' },
    { project: 'prj_a', role: 'owner' },
  ],
  admin: [{ project: null, role: 'admin' }],
  owner: [{ project: null, role: 'owner' }],
}

describe('every operation', () => {
  it('says its least role and its reach', () => {
    for (const { name, meta } of listOperations()) {
      expect(roleNames, name).toContain(meta.role)
      expect(['workspace', 'project'], name).toContain(meta.reach)
    }
  })

  it('that is no reading has those looked at again who have something open', async () => {
    const { parts } = await startTestGateway()
    for (const { name, path, meta } of listOperations()) {
      let writes = 0
      const looked = { ...parts, onWrite: () => void writes++ }
      const caller = { ...callerWith([]), id: null, grants: callers.owner ?? [] }
      const context: OperationContext = { ...looked, caller, closing: new AbortController().signal }
      await refusal(call(procedureAt(path), { nonsense: true }, { context, path }))
      expect(writes, name).toBe(meta.effect === 'read' ? 0 : 1)
    }
  })

  it('asks for its role before it looks at anything else', async () => {
    const { parts } = await startTestGateway()
    for (const { name, path, meta } of listOperations()) {
      for (const [who, grants] of Object.entries(callers)) {
        const context: OperationContext = {
          ...parts,
          caller: callerWith(grants),
          closing: new AbortController().signal,
        }
        if (meta.onMachine === true) continue
        // An input that is never valid: whoever is let in is told so, and nothing happens.
        const { code, message } = await refusal(call(procedureAt(path), { nonsense: true }, { context, path }))
        expect(code, `${name} as ${who}`).toBe(mayCall(grants, meta) ? 'invalid' : 'refused')
        if (code === 'refused') expect(message).toContain(`${name} needs the role ${meta.role} for`)
      }
    }
  })
})

describe('who may what', () => {
  const asked = (role: RoleGrant['role'], reach: 'workspace' | 'project') =>
    Object.keys(callers).filter((who) => mayCall(callers[who] ?? [], { role, reach }))

  it('goes by the best grant that reaches so far', () => {
    expect(asked('viewer', 'workspace')).toEqual(['viewer', 'viewer, and owner of a project', 'admin', 'owner'])
    expect(asked('admin', 'workspace')).toEqual(['admin', 'owner'])
    expect(asked('owner', 'workspace')).toEqual(['owner'])
    expect(asked('viewer', 'project')).toEqual(Object.keys(callers).filter((who) => who !== 'nobody'))
    expect(asked('owner', 'project')).toEqual(['owner of a project', 'viewer, and owner of a project', 'owner'])
  })

  it('is of one project where that is named', () => {
    const grants = callers['admin of a project'] ?? []
    expect(mayCall(grants, { role: 'admin', reach: 'project' }, 'prj_a')).toBe(true)
    expect(mayCall(grants, { role: 'admin', reach: 'project' }, 'prj_b')).toBe(false)
  })
})

it('tells the caller of a fault of our own only that there was one', async () => {
  const { parts, faults } = await startTestGateway()
  const runtime = { ...parts.runtime, publish: () => Promise.reject(new Error('inner workings')) }
  const caller = callerWith([{ project: null, role: 'owner' }])
  const context: OperationContext = { ...parts, runtime, caller, closing: new AbortController().signal }
  const path = ['projects', 'add']
  const { code, message } = await refusal(call(procedureAt(path), { name: 'search' }, { context, path }))
  expect(code).toBe('INTERNAL_SERVER_ERROR')
  expect(message).not.toContain('inner workings')
  expect(faults).toEqual([expect.objectContaining({ message: 'inner workings' })])
})
