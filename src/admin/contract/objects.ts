import { z } from 'zod'
import { objectTypes } from '../../core/objects/stored-object.ts'
import { listScopeFields, reference, removed, scopeFields, time } from './fields.ts'
import { field, operation } from './operation.ts'

export const objectShape = z.object({
  type: z.enum(objectTypes),
  /** The provider's own; on the Gemini lane a resource name. */
  id: z.string(),
  project: z.string(),
  environment: z.string(),
  /** Name of the provider configuration. */
  provider: z.string(),
  /** Id of the one credential that reaches it; null: the provider takes none. */
  credential: z.string().nullable(),
  /** Of the key that made it; both null: an operator adopted it. */
  key_id: z.string().nullable(),
  request_id: z.string().nullable(),
  created_at: time,
})

const columns = [
  { field: 'type', title: 'TYPE' },
  { field: 'id', title: 'ID', format: 'id' },
  { field: 'provider', title: 'PROVIDER' },
  { field: 'project', title: 'PROJECT' },
  { field: 'environment', title: 'ENVIRONMENT' },
  { field: 'created_at', title: 'CREATED', format: 'age' },
] as const
const record = { as: 'record' } as const

const typeName = z.enum(objectTypes)
const nameField = {
  name: field(reference, { description: 'Object ID at the provider', prompt: 'Which object?', acceptsId: true }),
}
const narrowing = {
  type: field(typeName.optional(), { description: 'Only objects of this type' }),
  provider: field(reference.optional(), { description: 'Only objects at this provider (name or ID)' }),
}
/** Tells objects of the same id apart. */
const telling = {
  type: field(typeName.optional(), { description: 'Type of the object, where objects of several types have this ID' }),
  provider: field(reference.optional(), {
    description: 'Provider that stores it, where several have an object of this ID (name or ID)',
  }),
}

/** Objects that live at providers: files, batches, stored responses and the like. Nothing here calls a provider. */
export const objects = {
  list: operation({
    summary: 'List files, batches and other objects stored at providers, newest first',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: {
      as: 'table',
      columns,
      empty: 'No objects yet. Files, batches and other objects appear here once a key creates them.',
    },
    examples: ['objects list', 'objects list --type file --provider openai', 'objects list --all'],
  })
    .input(
      z.strictObject({
        ...listScopeFields,
        ...narrowing,
        limit: field(z.number().int().min(1).max(1000).default(100), { description: 'Maximum number of objects' }),
      }),
    )
    .output(z.array(objectShape)),
  show: operation({
    summary: 'Show who owns an object and where it is stored',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: record,
    positional: ['name'],
    examples: ['objects show file-abc123'],
  })
    .input(z.strictObject({ ...nameField, ...telling }))
    .output(objectShape),
  adopt: operation({
    summary: 'Assign an object that was created outside this gateway to an environment',
    role: 'admin',
    // Whoever adopts may reach whatever lies in the account.
    reach: 'workspace',
    effect: 'write',
    show: record,
    positional: ['name'],
    examples: [
      'objects adopt file-abc123 --type file --provider openai',
      'objects adopt files/abc --type file --provider gemini --project search --environment staging',
    ],
  })
    .input(
      z.strictObject({
        ...nameField,
        type: field(typeName, { description: 'Type of the object', prompt: 'Type' }),
        provider: field(reference, { description: 'Provider that stores it (name or ID)', prompt: 'Provider' }),
        credential: field(reference.optional(), {
          description: 'Credential with access to it (ID or last four); required if the provider has several',
        }),
        ...scopeFields,
      }),
    )
    .output(objectShape),
  forget: operation({
    summary: 'Forget who owns an object; the provider keeps it, but no key can use it through this gateway',
    role: 'admin',
    reach: 'project',
    effect: 'danger',
    show: record,
    positional: ['name'],
    examples: ['objects forget file-abc123'],
    confirm: 'Forget who owns {name}? The provider keeps it, but no key can use it until it is adopted again.',
  })
    .input(z.strictObject({ ...nameField, ...telling }))
    .output(removed),
}
