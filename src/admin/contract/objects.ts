import { z } from 'zod'
import { objectTypes } from '../../core/stored-object.ts'
import { anywhereField, reference, removed, scopeFields, time } from './fields.ts'
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
  name: field(reference, { description: "The object's id at the provider", prompt: 'Which object?' }),
}
/** Tells objects of the same id apart. */
const narrowing = {
  type: field(typeName.optional(), { description: 'Only objects of this type' }),
  provider: field(reference.optional(), { description: 'Only objects at this provider, by name or id' }),
}

/** Objects that live at providers: files, batches, stored responses and the like. Nothing here calls a provider. */
export const objects = {
  list: operation({
    summary: 'List objects that live at providers, newest first',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: {
      as: 'table',
      columns,
      empty: 'No object yet: files, batches and the like are listed once a key has made some.',
    },
    examples: ['objects list', 'objects list --type file --provider openai', 'objects list --all'],
  })
    .input(
      z.strictObject({
        ...scopeFields,
        ...anywhereField,
        ...narrowing,
        limit: field(z.number().int().min(1).max(1000).default(100), { description: 'So many at most' }),
      }),
    )
    .output(z.array(objectShape)),
  show: operation({
    summary: 'Show whose an object is and where it lives',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: record,
    positional: ['name'],
    examples: ['objects show file-abc123'],
  })
    .input(z.strictObject({ ...nameField, ...narrowing }))
    .output(objectShape),
  adopt: operation({
    summary: 'Give an object that was made outside of this gateway to an environment',
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
        type: field(typeName, { description: 'What it is', prompt: 'Type' }),
        provider: field(reference, { description: 'Where it lives, by name or id', prompt: 'Provider' }),
        credential: field(reference.optional(), {
          description:
            "The provider's credential that reaches it, by id or last four characters; needed where it has several",
        }),
        ...scopeFields,
      }),
    )
    .output(objectShape),
  forget: operation({
    summary: 'Forget whose an object is; the provider keeps it, and nobody reaches it through this gateway',
    role: 'admin',
    reach: 'project',
    effect: 'danger',
    show: record,
    positional: ['name'],
    examples: ['objects forget file-abc123'],
    confirm: 'Forget whose {name} is? No key reaches it then, until somebody adopts it.',
  })
    .input(z.strictObject({ ...nameField, ...narrowing }))
    .output(removed),
}
