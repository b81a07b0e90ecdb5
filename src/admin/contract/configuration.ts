import { z } from 'zod'
import { nodesReached } from './fields.ts'
import { field, operation } from './operation.ts'

/** A configuration file's changes, planned, made and written: `diff`, `apply` and `export`. */

export const changeShape = z.object({
  action: z.enum(['create', 'change', 'remove']),
  kind: z.enum(['project', 'environment', 'provider', 'policy', 'key', 'route', 'alert']),
  /** Of a route: its model. */
  name: z.string(),
  project: z.string().nullable(),
  /** null: it belongs to the project, or to all of its environments. */
  environment: z.string().nullable(),
  /** null: it is not made yet. */
  id: z.string().nullable(),
  /** As a file writes them. A credential shows as its last four characters and a fingerprint. */
  fields: z.array(z.object({ field: z.string(), before: z.unknown(), after: z.unknown() })),
})

export const planShape = z.object({
  /** Whose files they are: what they name belongs to this name. */
  owner: z.string(),
  /** In the order in which they would be made. */
  changes: z.array(changeShape),
  /** Mistakes in the files, with their places. Nothing is applied while there is one. */
  problems: z.array(z.object({ place: z.string(), message: z.string() })),
  /** New credentials whose variables are not set. The plan shows all the rest, and `apply` refuses it. */
  unset: z.array(z.object({ place: z.string(), message: z.string() })),
  /** What a person should know, and nothing is done about. */
  notes: z.array(z.string()),
  /** Fields that will be the owner's without changing. */
  adopted: z.number(),
  /** Fields that the owner's files name no more: anybody may change them. */
  released: z.number(),
  /** What `apply` takes as `expect`: by resource, a digest of what would be done to it. */
  expect: z.record(z.string(), z.string()),
})

export const appliedShape = z.object({
  owner: z.string(),
  changes: z.array(changeShape),
  notes: z.array(z.string()),
  adopted: z.number(),
  released: z.number(),
  /** Keys that were made new: each is shown here, and nowhere else. */
  keys: z.array(
    z.object({ id: z.string(), name: z.string(), project: z.string(), environment: z.string(), key: z.string() }),
  ),
  /** Signing secrets of alerts that were made new: each is shown here, and nowhere else. */
  alerts: z.array(z.object({ id: z.string(), name: z.string(), secret: z.string() })),
  /** Providers that were asked whether their credential works. */
  checked: z.array(z.string()),
  nodes: nodesReached,
})

export const exportShape = z.object({
  /** YAML with comments. */
  text: z.string(),
  /** The same as data. */
  document: z.record(z.string(), z.unknown()),
})

const files = {
  files: field(z.record(z.string(), z.string()), {
    description: 'Configuration file or directory, or - for standard input',
    label: 'Files',
    help: 'Configuration files, or directories of them',
    flag: 'file',
    syntax: 'files',
  }),
  variables: field(z.record(z.string(), z.string()).default({}), {
    description: 'Values of the variables in the files',
    syntax: 'variables',
  }),
  prune: field(z.boolean().default(false), {
    description: 'Remove what these files managed before and no longer contain',
  }),
  force: field(z.boolean().default(false), { description: 'Take over what other files manage' }),
}

export const diff = operation({
  summary: 'Show what applying configuration files would change',
  role: 'viewer',
  reach: 'workspace',
  effect: 'read',
  show: { as: 'record' },
  examples: ['diff -f gateway.yaml', 'diff -f gateway.yaml --prune --json'],
})
  .input(z.strictObject(files))
  .output(planShape)

export const apply = operation({
  summary: 'Apply configuration files; the plan is shown first',
  role: 'admin',
  reach: 'workspace',
  effect: 'danger',
  show: { as: 'record' },
  examples: ['apply -f gateway.yaml', 'apply -f projects/ -f shared.yaml --prune --yes'],
  confirm: 'Apply these changes to the configuration?',
})
  .input(
    z.strictObject({
      ...files,
      skipCheck: field(z.boolean().default(false), { description: 'Do not check the providers first' }),
      expect: field(z.record(z.string(), z.string()).optional(), {
        description: 'The plan that was shown; rejected if the plan has changed since',
        syntax: 'variables',
      }),
    }),
  )
  .output(appliedShape)

// `export` is a word of the language.
export const exportConfiguration = operation({
  summary: 'Export the configuration as a file for apply, without credentials',
  role: 'admin',
  reach: 'workspace',
  effect: 'read',
  show: { as: 'record' },
  examples: ['export', 'export > gateway.yaml', 'export --json --without-keys'],
})
  .input(
    z.strictObject({
      withoutKeys: field(z.boolean().default(false), { description: 'Leave out gateway keys' }),
      owner: field(z.string().optional(), { description: 'Owner to write into the file' }),
    }),
  )
  .output(exportShape)
