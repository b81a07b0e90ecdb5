import { z } from 'zod'
import { nameField, newNameField, reference, removed, time } from './fields.ts'
import { field, operation } from './operation.ts'
import { roleNames } from './roles.ts'

const grantShape = z.object({
  role: z.enum(roleNames),
  /** null: the whole workspace. */
  project: z.string().nullable(),
})

export const operatorShape = z.object({
  id: z.string(),
  name: z.string(),
  display_name: z.string(),
  state: z.enum(['active', 'disabled']),
  grants: z.array(grantShape),
  /** The grants in words: `owner`, `admin of search`. */
  roles: z.array(z.string()),
  /** What he can sign in with; empty: with a link only. */
  signs_in_with: z.array(z.enum(['password', 'authenticator', 'passkey', 'oidc'])),
  created_at: time,
  last_sign_in_at: time.nullable(),
})

/** The one place where a sign-in link is shown. */
export const linkShape = z.object({
  id: z.string(),
  name: z.string(),
  /** null: he was given a password. */
  link: z.string().nullable(),
  expires_at: time.nullable(),
})

const columns = [
  { field: 'name', title: 'NAME' },
  { field: 'display_name', title: 'DISPLAY NAME' },
  { field: 'state', title: 'STATE', format: 'state' },
  { field: 'roles', title: 'ROLES', format: 'list', absent: 'none' },
  { field: 'signs_in_with', title: 'SIGNS IN WITH', format: 'list', absent: 'a link' },
  { field: 'last_sign_in_at', title: 'LAST SIGN-IN', format: 'age', absent: 'never' },
] as const
const record = { as: 'record' } as const
const link = {
  as: 'once',
  field: 'link',
  note: 'Whoever opens it first is signed in, without a password or a code. Good for ten minutes, and once.',
} as const
const one = z.strictObject(nameField('operator'))
const displayName = (description: string) => field(z.string().trim().min(1).max(120).optional(), { description })
const projects = (description: string) =>
  field(z.array(reference).optional(), { description, flag: 'project', syntax: 'list' })

export const operators = {
  add: operation({
    summary: 'Add an operator, who signs in with a link that is shown once, or with a password',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: link,
    positional: ['name'],
    aliases: ['create'],
    examples: [
      'operators add anna --role owner',
      'operators add ben --role admin --project search',
      'operators add carol --role viewer --password-env CAROL_PASSWORD',
    ],
  })
    .input(
      z.strictObject({
        ...newNameField('operator'),
        role: field(z.enum(roleNames), { description: 'What the operator may do', prompt: 'Role' }),
        projects: projects('Project that the role is for (repeat for several; default: the whole workspace)'),
        displayName: displayName('Name for people (default: the name)'),
        password: field(z.string().min(1).optional(), {
          description: 'A first password, instead of a link',
          secret: true,
        }),
      }),
    )
    .output(linkShape),
  list: operation({
    summary: 'List operators',
    role: 'admin',
    reach: 'workspace',
    effect: 'read',
    show: { as: 'table', columns, empty: 'No operator yet. Make the first owner: spgw console link' },
    examples: ['operators list'],
  })
    .input(z.strictObject({}))
    .output(z.array(operatorShape)),
  show: operation({
    summary: 'Show an operator',
    role: 'admin',
    reach: 'workspace',
    effect: 'read',
    show: record,
    positional: ['name'],
    examples: ['operators show anna'],
  })
    .input(one)
    .output(operatorShape),
  edit: operation({
    summary: 'Change the name or the roles of an operator',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: record,
    positional: ['name'],
    examples: [
      'operators edit ben --role admin',
      'operators edit ben --role viewer --project search --project web',
      'operators edit ben --role none --project search',
    ],
  })
    .input(
      one.extend({
        rename: field(newNameField('operator').name.optional(), { description: 'New name of the operator' }),
        displayName: displayName('New name for people'),
        role: field(z.enum([...roleNames, 'none']).optional(), {
          description: 'New role, for the projects named or else for the workspace; none takes it away',
        }),
        projects: projects('Project that the role is for (repeat for several; default: the whole workspace)'),
        replace: field(z.boolean().default(false), {
          description: 'In place of every role that the operator had (default: the others stay)',
        }),
      }),
    )
    .output(operatorShape),
  enable: operation({
    summary: 'Let an operator sign in again',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: record,
    positional: ['name'],
    examples: ['operators enable ben'],
  })
    .input(one)
    .output(operatorShape),
  disable: operation({
    summary: 'Sign an operator out everywhere, and let him in no more; never the last owner',
    role: 'admin',
    reach: 'workspace',
    effect: 'danger',
    show: record,
    positional: ['name'],
    examples: ['operators disable ben'],
    confirm: 'Disable operator {name}? Every session ends at once; API tokens that he made go on working.',
  })
    .input(one)
    .output(operatorShape),
  link: operation({
    summary: 'Make a link that signs an operator in once, within ten minutes',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: link,
    positional: ['name'],
    examples: ['operators link ben'],
  })
    .input(one)
    .output(linkShape),
  reset: operation({
    summary: 'Take password, authenticator and passkeys of a lost operator away, and make a link instead',
    role: 'owner',
    reach: 'workspace',
    onMachine: true,
    effect: 'danger',
    show: link,
    positional: ['name'],
    examples: ['operators reset anna', 'operators reset anna --yes'],
    confirm:
      'Reset operator {name}? Password, authenticator and passkeys go, every session ends, and a link is the way in.',
  })
    .input(one)
    .output(linkShape),
  remove: operation({
    summary: 'Remove an operator; never the last owner',
    role: 'admin',
    reach: 'workspace',
    effect: 'danger',
    show: record,
    positional: ['name'],
    examples: ['operators remove ben'],
    confirm:
      'Remove operator {name}? Every session ends; the audit keeps the name, and API tokens that he made go on working.',
  })
    .input(one)
    .output(removed),
}
