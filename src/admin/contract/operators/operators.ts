import { z } from 'zod'
import { nameField, newNameField, nodesReached, reference, removedAccess, time } from '../fields.ts'
import { field, operation } from '../operation.ts'
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

/** After what may take something away from him. */
export const changedOperatorShape = operatorShape.extend({ nodes: nodesReached })

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
  { field: 'signs_in_with', title: 'SIGNS IN WITH', format: 'list', absent: 'link only' },
  { field: 'last_sign_in_at', title: 'LAST SIGN-IN', format: 'age', absent: 'never' },
] as const
const record = { as: 'record' } as const
const link = {
  as: 'once',
  field: 'link',
  note: 'Anyone who has this link can sign in with it, without a password or code. It works once and expires in ten minutes.',
} as const
const one = z.strictObject(nameField('operator'))
const displayName = (description: string) => field(z.string().trim().min(1).max(120).optional(), { description })
const projects = field(z.array(reference).optional(), {
  description: 'Project that the role applies to (default: the whole workspace)',
  label: 'Projects',
  help: 'Projects that the role applies to. Empty: the whole workspace',
  flag: 'project',
  syntax: 'list',
})

export const operators = {
  add: operation({
    summary: 'Add an operator and create a one-time sign-in link, or set a password',
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
        projects,
        displayName: displayName('Name to display (default: the name)'),
        password: field(z.string().min(1).optional(), {
          description: 'Initial password, instead of a sign-in link',
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
    show: { as: 'table', columns, empty: 'No operators yet. Create the first owner: spgw console link' },
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
    summary: 'Change the name or roles of an operator',
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
        rename: field(newNameField('operator').name.optional(), {
          description: 'New name of the operator',
          label: 'New name',
        }),
        displayName: displayName('New name to display'),
        role: field(z.enum([...roleNames, 'none']).optional(), {
          description: 'New role in the given projects, or else in the workspace; none removes it',
          help: 'In the projects below, or else in the whole workspace; none removes the role',
          empty: 'none',
        }),
        projects,
        replace: field(z.boolean().default(false), {
          description: 'Replace all roles of the operator (default: keep the others)',
          label: 'Replace all roles',
          help: 'Otherwise the other roles are kept',
        }),
      }),
    )
    .output(changedOperatorShape),
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
    summary: 'Sign an operator out everywhere and block sign-in; not for the last owner',
    role: 'admin',
    reach: 'workspace',
    effect: 'danger',
    show: record,
    positional: ['name'],
    examples: ['operators disable ben'],
    confirm: 'Disable operator {name}? All sessions end now. API tokens that the operator created keep working.',
  })
    .input(one)
    .output(changedOperatorShape),
  link: operation({
    summary: 'Create a sign-in link for an operator; it works once, for ten minutes',
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
    summary: 'Reset the sign-in of an operator: remove password, authenticator and passkeys, and create a link',
    role: 'owner',
    reach: 'workspace',
    onMachine: true,
    effect: 'danger',
    show: link,
    positional: ['name'],
    examples: ['operators reset anna', 'operators reset anna --yes'],
    confirm:
      'Reset operator {name}? The password, authenticator and passkeys are removed, and all sessions end. A new sign-in link is created.',
  })
    .input(one)
    .output(linkShape.extend({ nodes: nodesReached })),
  remove: operation({
    summary: 'Remove an operator; not the last owner',
    role: 'admin',
    reach: 'workspace',
    effect: 'danger',
    show: record,
    positional: ['name'],
    examples: ['operators remove ben'],
    confirm:
      'Remove operator {name}? All sessions end now. The audit log keeps the name, and API tokens that the operator created keep working.',
  })
    .input(one)
    .output(removedAccess),
}
