import { z } from 'zod'
import {
  forceField,
  nameField,
  newNameField,
  reference,
  removed,
  renameField,
  tagField,
  timeoutFields,
} from './fields.ts'
import { kindSettingFields } from './kind-settings.ts'
import { field, operation } from './operation.ts'
import { history } from './provider-history.ts'
import { checkShape, credentialShape, kindShape, providerShape, revisionShape } from './provider-shapes.ts'

const columns = [
  { field: 'name', title: 'NAME' },
  { field: 'kind', title: 'KIND' },
  { field: 'state', title: 'STATE', format: 'state', also: { field: 'state_reason', join: ': ', brief: 'state_code' } },
  { field: 'active', title: 'ACTIVE' },
  { field: 'routes', title: 'ROUTES', format: 'number' },
  { field: 'last_hour.requests', title: 'LAST HOUR', format: 'number', unit: 'req' },
  { field: 'last_hour.duration_p95_ms', title: 'P95', format: 'duration' },
] as const
const record = { as: 'record' } as const
const one = z.strictObject({ ...nameField('provider') })

const settable = {
  headers: field(z.record(z.string(), z.string()).optional(), {
    description: 'Extra header of every call; an empty value removes it',
    flag: 'header',
    syntax: 'pairs',
  }),
  projects: field(z.array(reference).optional(), {
    description: 'Project that may use it (repeat for several; default: all)',
    flag: 'project',
    syntax: 'list',
  }),
  ...timeoutFields,
  ...tagField,
  ...kindSettingFields,
  skipCheck: field(z.boolean().default(false), { description: 'Do not ask the provider first' }),
}

const credentials = {
  add: operation({
    summary: "Add a credential to a provider's pool",
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: record,
    positional: ['name'],
    aliases: ['create'],
    examples: ['providers credentials add openai --credential-env SECOND_KEY'],
  })
    .input(
      one.extend({
        ...forceField,
        credential: field(z.string().min(1), { description: 'The credential', prompt: 'Credential', secret: true }),
        skipCheck: settable.skipCheck,
      }),
    )
    .output(providerShape),
  list: operation({
    summary: "List a provider's credentials (they are write-only: the last four show)",
    role: 'viewer',
    reach: 'workspace',
    effect: 'read',
    show: {
      as: 'table',
      columns: [
        { field: 'id', title: 'ID', format: 'id' },
        { field: 'last_four', title: 'ENDS IN' },
        { field: 'added_at', title: 'ADDED', format: 'age' },
      ],
      empty: 'No credential yet. Add one: spgw providers credentials add NAME --credential-stdin',
    },
    positional: ['name'],
    examples: ['providers credentials list openai'],
  })
    .input(one)
    .output(z.array(credentialShape)),
  remove: operation({
    summary: "Remove a credential from a provider's pool",
    role: 'admin',
    reach: 'workspace',
    effect: 'danger',
    show: record,
    positional: ['name', 'credential'],
    examples: ['providers credentials remove openai a1b2'],
    confirm: 'Remove credential {credential} from provider {name}?',
  })
    .input(
      one.extend({ ...forceField, credential: field(reference, { description: 'Id or last four of the credential' }) }),
    )
    .output(providerShape),
}

export const providers = {
  add: operation({
    summary: 'Add a provider; its credential is checked first',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: record,
    positional: ['name'],
    aliases: ['create'],
    examples: [
      'providers add openai --kind openai --credential-stdin',
      'providers add groq --kind openai-compatible --preset groq --credential-env GROQ_API_KEY',
      'providers add local --kind openai-compatible --base-url http://127.0.0.1:11434/v1',
    ],
  })
    .input(
      z.strictObject({
        ...newNameField('provider'),
        kind: field(z.string(), { description: 'Kind (see: spgw providers kinds)', prompt: 'Kind' }),
        baseUrl: field(z.string().optional(), { description: "What the vendor's own SDK would be given" }),
        credential: field(z.string().min(1).optional(), {
          description: "The provider's key",
          prompt: 'Credential',
          secret: true,
        }),
        ...settable,
        inactive: field(z.boolean().default(false), { description: 'Add it without giving it traffic' }),
      }),
    )
    .output(providerShape),
  list: operation({
    summary: 'List providers with their state and last hour',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: {
      as: 'table',
      columns,
      empty: 'No provider yet. Add one: spgw providers add NAME --kind KIND --credential-stdin',
    },
    examples: ['providers list', 'providers list --json'],
  })
    .input(z.strictObject({}))
    .output(z.array(providerShape)),
  show: operation({
    summary: 'Show a provider',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: record,
    positional: ['name'],
    examples: ['providers show openai'],
  })
    .input(one)
    .output(providerShape),
  edit: operation({
    summary: 'Change a provider; what its calls depend on becomes a new revision',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: record,
    positional: ['name'],
    examples: [
      'providers edit openai --credential-stdin',
      'providers edit openai --timeout-first-byte 60s',
      'providers edit openai --organization none',
    ],
  })
    .input(
      one.extend({
        ...forceField,
        ...renameField('provider'),
        baseUrl: field(z.string().optional(), { description: "What the vendor's own SDK would be given" }),
        credential: field(z.string().min(1).optional(), {
          description: 'New credential; takes the place of the one before',
          secret: true,
        }),
        replace: field(reference.optional(), {
          description: 'Id or last four of the credential to replace, where the pool has several',
        }),
        ...settable,
        allProjects: field(z.boolean().default(false), { description: 'Every project may use it' }),
      }),
    )
    .output(providerShape),
  check: operation({
    summary: 'Ask the provider whether address and credentials are right (free)',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: record,
    positional: ['name'],
    examples: ['providers check openai'],
  })
    .input(one)
    .output(checkShape),
  activate: operation({
    summary: 'Give a provider traffic',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: record,
    positional: ['name'],
    examples: ['providers activate openai'],
  })
    .input(one.extend(forceField))
    .output(providerShape),
  deactivate: operation({
    summary: 'Take a provider out of traffic',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: record,
    positional: ['name'],
    examples: ['providers deactivate openai'],
  })
    .input(one.extend(forceField))
    .output(providerShape),
  history,
  revisions: operation({
    summary: "List a provider's revisions",
    role: 'viewer',
    reach: 'workspace',
    effect: 'read',
    show: {
      as: 'table',
      columns: [
        { field: 'number', title: 'REVISION', format: 'number' },
        { field: 'active', title: 'ACTIVE' },
        { field: 'base_url', title: 'BASE URL' },
        { field: 'created_by', title: 'BY' },
        { field: 'created_at', title: 'CREATED', format: 'age' },
      ],
      empty: 'No revision.',
    },
    positional: ['name'],
    examples: ['providers revisions openai'],
  })
    .input(one)
    .output(z.array(revisionShape)),
  rollback: operation({
    summary: 'Make an older revision the active one',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: record,
    positional: ['name', 'revision'],
    examples: ['providers rollback openai 3', 'providers rollback openai'],
  })
    .input(
      one.extend({
        ...forceField,
        revision: field(z.int().positive().optional(), {
          description: 'Number of the revision (default: the one before)',
        }),
      }),
    )
    .output(providerShape),
  remove: operation({
    summary: 'Remove a provider; refused while a route has it as a target',
    role: 'admin',
    reach: 'workspace',
    effect: 'danger',
    show: record,
    positional: ['name'],
    examples: ['providers remove openai'],
    confirm: 'Remove provider {name} with its credentials and revisions?',
  })
    .input(one.extend(forceField))
    .output(removed),
  kinds: operation({
    summary: 'List the kinds of provider and their settings',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: {
      as: 'table',
      columns: [
        { field: 'kind', title: 'KIND' },
        { field: 'speaks', title: 'SPEAKS', format: 'list' },
        { field: 'credential', title: 'CREDENTIAL' },
        { field: 'own_settings.flag', title: 'OWN SETTINGS', format: 'list' },
        { field: 'default_base_url', title: 'BASE URL' },
      ],
      empty: 'No kind.',
    },
    examples: ['providers kinds'],
  })
    .input(z.strictObject({}))
    .output(z.array(kindShape)),
  credentials,
}
