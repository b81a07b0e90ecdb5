import { z } from 'zod'
import {
  forceField,
  nameField,
  newNameField,
  nodesReached,
  reference,
  removedAccess,
  renameField,
  tagField,
  timeoutFields,
} from '../fields.ts'
import { field, operation } from '../operation.ts'
import { kindSettingFields } from './kind-settings.ts'
import { attempts } from './provider-attempts.ts'
import { history } from './provider-history.ts'
import { checkShape, credentialShape, kindShape, providerShape, revisionShape } from './provider-shapes.ts'

const columns = [
  { field: 'name', title: 'NAME' },
  { field: 'kind', title: 'KIND' },
  { field: 'state', title: 'STATE', format: 'state', also: { field: 'state_reason', join: ': ', brief: 'state_code' } },
  { field: 'active', title: 'ACTIVE' },
  { field: 'routes', title: 'ROUTES', format: 'number' },
  { field: 'last_hour.requests', title: 'LAST HOUR', format: 'number', unit: 'tried' },
  { field: 'last_hour.failed', title: 'FAILED', format: 'number' },
  { field: 'last_hour.duration_p95_ms', title: 'P95', format: 'duration' },
] as const
const record = { as: 'record' } as const
const one = z.strictObject({ ...nameField('provider') })
const changed = providerShape.extend({ nodes: nodesReached })

const settable = {
  headers: field(z.record(z.string(), z.string()).optional(), {
    description: 'Header to send with every call, whose value is not shown again; an empty value removes it',
    label: 'Headers',
    help: 'Sent with every call to the provider. Values that may be secret are sealed; … leaves one as it is',
    flag: 'header',
    syntax: 'pairs',
  }),
  projects: field(z.array(reference).optional(), {
    description: 'Project that may use it (default: all)',
    label: 'Projects',
    help: 'Projects that may use it. Empty: all',
    flag: 'project',
    syntax: 'list',
  }),
  ...timeoutFields,
  rpm: field(z.int().nonnegative().max(1e9).nullable().optional(), {
    description: 'Requests a minute that its account may be used for (none: no limit)',
    label: 'Requests a minute',
    help: 'What its account may be used for, by all keys together. Over it, the next target of the route serves',
  }),
  tpm: field(z.int().nonnegative().max(1e12).nullable().optional(), {
    description: 'Tokens a minute that its account may be used for (none: no limit)',
    label: 'Tokens a minute',
    help: 'What its account may be used for, by all keys together',
  }),
  budgetUsdMonth: field(z.number().nonnegative().max(1e9).nullable().optional(), {
    description: 'USD a month that its account may be used for (none: no limit)',
    label: 'Budget in USD a month',
    help: "What its account may be used for, by all keys together, in the workspace's time zone",
  }),
  ...tagField,
  ...kindSettingFields,
  skipCheck: field(z.boolean().default(false), { description: 'Do not check the provider first' }),
}

const credentials = {
  add: operation({
    summary: 'Add a credential to a provider',
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
    summary: 'List the credentials of a provider; only their last four characters are shown',
    role: 'viewer',
    reach: 'workspace',
    effect: 'read',
    show: {
      as: 'table',
      columns: [
        { field: 'id', title: 'ID', format: 'id' },
        { field: 'last_four', title: 'LAST FOUR' },
        { field: 'added_at', title: 'ADDED', format: 'age' },
      ],
      empty: 'No credentials yet. Add one: spgw providers credentials add NAME --credential-stdin',
    },
    positional: ['name'],
    examples: ['providers credentials list openai'],
  })
    .input(one)
    .output(z.array(credentialShape)),
  remove: operation({
    summary: 'Remove a credential from a provider',
    role: 'admin',
    reach: 'workspace',
    effect: 'danger',
    show: record,
    positional: ['name', 'credential'],
    examples: ['providers credentials remove openai a1b2'],
    confirm: 'Remove credential {credential} from provider {name}?',
  })
    .input(
      one.extend({
        ...forceField,
        credential: field(reference, { description: 'ID or last four of the credential', acceptsId: true }),
      }),
    )
    .output(changed),
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
        kind: field(z.string(), {
          description: 'Kind of provider (see spgw providers kinds)',
          help: 'The API that it offers',
          prompt: 'Kind',
        }),
        baseUrl: field(z.string().optional(), { description: "Base URL, as for the vendor's own SDK" }),
        credential: field(z.string().min(1).optional(), {
          description: 'API key or JSON credential of the provider',
          prompt: 'Credential',
          secret: true,
        }),
        ...settable,
        inactive: field(z.boolean().default(false), { description: 'Add it without sending it traffic' }),
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
      empty: 'No providers yet. Add one: spgw providers add NAME --kind KIND --credential-stdin',
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
    summary: 'Change a provider; a change to how it is called makes a new revision',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: record,
    positional: ['name'],
    examples: [
      'providers edit openai --credential-stdin',
      'providers edit openai --timeout-first-byte 60s',
      'providers edit openai --rpm 500 --budget-usd-month 200',
      'providers edit openai --organization none',
    ],
  })
    .input(
      one.extend({
        ...forceField,
        ...renameField('provider'),
        baseUrl: field(z.string().optional(), { description: "Base URL, as for the vendor's own SDK" }),
        credential: field(z.string().min(1).optional(), {
          description: 'New credential, which replaces the current one',
          secret: true,
        }),
        replace: field(reference.optional(), {
          description: 'Credential to replace (ID or last four), if there are several',
          label: 'Credential to replace',
          help: 'Its ID or last four. Required if the provider has several',
        }),
        ...settable,
        allProjects: field(z.boolean().default(false), { description: 'Allow all projects to use it' }),
        inactive: field(z.boolean().optional(), { description: 'Stop sending it traffic' }),
      }),
    )
    .output(changed),
  check: operation({
    summary: 'Check the address and credentials of a provider; costs nothing',
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
    summary: 'Send traffic to a provider again',
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
    summary: 'Stop sending traffic to a provider',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: record,
    positional: ['name'],
    examples: ['providers deactivate openai'],
  })
    .input(one.extend(forceField))
    .output(changed),
  history,
  attempts,
  revisions: operation({
    summary: 'List the revisions of a provider',
    role: 'viewer',
    reach: 'workspace',
    effect: 'read',
    show: {
      as: 'table',
      columns: [
        { field: 'number', title: 'REVISION', format: 'number' },
        { field: 'active', title: 'ACTIVE' },
        { field: 'base_url', title: 'BASE URL' },
        { field: 'created_by', title: 'CREATED BY' },
        { field: 'created_at', title: 'CREATED', format: 'age' },
      ],
      empty: 'No revisions.',
    },
    positional: ['name'],
    examples: ['providers revisions openai'],
  })
    .input(one)
    .output(z.array(revisionShape)),
  rollback: operation({
    summary: 'Make an earlier revision the active one',
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
          description: 'Number of the revision (default: the previous one)',
        }),
      }),
    )
    .output(changed),
  remove: operation({
    summary: 'Remove a provider; no route may use it',
    role: 'admin',
    reach: 'workspace',
    effect: 'danger',
    show: record,
    positional: ['name'],
    examples: ['providers remove openai'],
    confirm: 'Remove provider {name}, its credentials and its revisions?',
  })
    .input(one.extend(forceField))
    .output(removedAccess),
  kinds: operation({
    summary: 'List the kinds of providers and their settings',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: {
      as: 'table',
      columns: [
        { field: 'kind', title: 'KIND' },
        { field: 'speaks', title: 'LANES', format: 'list' },
        { field: 'credential', title: 'CREDENTIAL' },
        { field: 'own_settings.flag', title: 'SETTINGS', format: 'list' },
        { field: 'default_base_url', title: 'BASE URL' },
      ],
      empty: 'No kinds.',
    },
    examples: ['providers kinds'],
  })
    .input(z.strictObject({}))
    .output(z.array(kindShape)),
  credentials,
}
