import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { covers, mayCall, projectsWith, type RoleGrant, roleNames } from '../../src/admin/contract/operators/roles.ts'
import type { AdminContext } from '../../src/admin/handlers/context.ts'
import { changeGrants, describeGrants, refuseBeyond } from '../../src/admin/handlers/operators/grants.ts'
import { isAble, isSeen, scopeOf } from '../../src/admin/handlers/scope.ts'

const projects = ['prj_a', 'prj_b', 'prj_c']
const role = fc.constantFrom(...roleNames)
const place = fc.constantFrom(null, ...projects)
const grants: fc.Arbitrary<RoleGrant[]> = fc.array(fc.record({ project: place, role }), { maxLength: 4 })
const requirement = fc.record({ role, reach: fc.constantFrom('workspace', 'project') })

const isAtLeast = (one: (typeof roleNames)[number], least: (typeof roleNames)[number]) =>
  roleNames.indexOf(one) >= roleNames.indexOf(least)

/** As the words say it: some grant of this place, or of the workspace, gives the role. */
const gives = (held: readonly RoleGrant[], project: string | null, least: (typeof roleNames)[number]) =>
  held.some((grant) => (grant.project === null || grant.project === project) && isAtLeast(grant.role, least))

describe('grants', () => {
  it('give a role where one of them does, in its project or in all', () => {
    fc.assert(
      fc.property(grants, role, (held, least) => {
        const able = projectsWith(held, least)
        expect(able === null).toBe(gives(held, null, least))
        for (const project of projects) expect(able === null || able.has(project)).toBe(gives(held, project, least))
      }),
      { numRuns: 300 },
    )
  })

  it('never give less for being more, nor more for a higher role', () => {
    fc.assert(
      fc.property(
        grants,
        grants,
        requirement,
        fc.option(fc.constantFrom(...projects), { nil: undefined }),
        (one, more, needs, project) => {
          if (mayCall(one, needs, project)) expect(mayCall([...one, ...more], needs, project)).toBe(true)
          if (mayCall(one, { ...needs, role: 'owner' }, project)) expect(mayCall(one, needs, project)).toBe(true)
          if (mayCall(one, { ...needs, reach: 'workspace' }, project)) expect(mayCall(one, needs, project)).toBe(true)
          // Whoever may in a project that is named may somewhere.
          if (mayCall(one, needs, project)) expect(mayCall(one, needs)).toBe(true)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('cover what they are, what is less, and what a covered one covers', () => {
    fc.assert(
      fc.property(grants, grants, grants, (one, two, three) => {
        expect(covers(one, one)).toBe(true)
        expect(covers(one, [])).toBe(true)
        expect(covers(one, two) && covers(one, three)).toBe(covers(one, [...two, ...three]))
        if (covers(one, two) && covers(two, three)) expect(covers(one, three)).toBe(true)
        // Nobody gets anything by what he may hand out.
        if (covers(one, two))
          for (const least of roleNames)
            for (const project of [null, ...projects])
              if (gives(two, project, least)) expect(gives(one, project, least)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  it('let an operation see no more than they show, and change no more than they let', () => {
    fc.assert(
      fc.property(grants, requirement, (held, needs) => {
        const holder = { id: 'opr_1', grants: held }
        if (!mayCall(held, needs as Parameters<typeof mayCall>[1])) {
          expect(() => scopeOf(holder, 'keys.list', needs as Parameters<typeof scopeOf>[2])).toThrow('needs the role')
          return
        }
        const scope = scopeOf(holder, 'keys.list', needs as Parameters<typeof scopeOf>[2])
        for (const project of projects) {
          expect(isAble(scope, project)).toBe(gives(held, project, needs.role))
          expect(isSeen(scope, project)).toBe(gives(held, project, 'viewer'))
          // What somebody may change he sees.
          if (isAble(scope, project)) expect(isSeen(scope, project)).toBe(true)
        }
      }),
      { numRuns: 300 },
    )
  })
})

it('an operation of the machine is for whoever holds its socket, whatever role another has', () => {
  const owner: RoleGrant[] = [{ project: null, role: 'owner' }]
  const needs = { role: 'viewer', reach: 'workspace', onMachine: true } as const
  expect(() => scopeOf({ id: 'opr_1', grants: owner }, 'seal.rotate', needs)).toThrow(
    "seal.rotate can only be run on the gateway's machine.",
  )
  expect(scopeOf({ id: null, grants: owner }, 'seal.rotate', needs).able).toBeNull()
})

describe('a change of grants', () => {
  const context = {
    store: { projects: { find: async (name: string) => (name === 'x' ? null : { id: `prj_${name}`, name }) } },
    caller: { grants: [{ project: 'prj_a', role: 'admin' }] },
  } as object as AdminContext
  const before: RoleGrant[] = [
    { project: null, role: 'viewer' },
    { project: 'prj_a', role: 'admin' },
  ]

  it.each<[Parameters<typeof changeGrants>[2], RoleGrant[]]>([
    [
      { role: 'owner' },
      [
        { project: 'prj_a', role: 'admin' },
        { project: null, role: 'owner' },
      ],
    ],
    [{ role: 'none' }, [{ project: 'prj_a', role: 'admin' }]],
    [{ role: 'none', projects: ['a'] }, [{ project: null, role: 'viewer' }]],
    [{ role: 'none', projects: ['b'] }, before],
    [
      { role: 'viewer', projects: ['a'] },
      [
        { project: null, role: 'viewer' },
        { project: 'prj_a', role: 'viewer' },
      ],
    ],
    [
      { role: 'admin', projects: ['b', 'c', 'b'] },
      [...before, { project: 'prj_b', role: 'admin' }, { project: 'prj_c', role: 'admin' }],
    ],
    [
      { role: 'admin', projects: [] },
      [
        { project: 'prj_a', role: 'admin' },
        { project: null, role: 'admin' },
      ],
    ],
  ])('to %j leaves one role a place', async (input, after) => {
    expect(await changeGrants(context, before, input)).toEqual(after)
  })

  it('is none where one of the projects is not there', async () => {
    await expect(changeGrants(context, before, { role: 'admin', projects: ['a', 'x'] })).rejects.toThrow(
      'no project "x"',
    )
  })

  it('is not beyond what the caller has', () => {
    refuseBeyond(context, [{ project: 'prj_a', role: 'admin' }], 'To add ann')
    for (const grant of [
      { project: 'prj_a', role: 'owner' },
      { project: 'prj_b', role: 'viewer' },
      { project: null, role: 'viewer' },
    ] as const)
      expect(() => refuseBeyond(context, [grant], 'To add ann')).toThrow(
        'To add ann requires roles that you do not have.',
      )
  })

  it('is told in words', () => {
    expect(describeGrants(before, (id) => id.replace('prj_', ''))).toEqual(['viewer', 'admin of a'])
  })
})
