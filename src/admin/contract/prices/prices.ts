import { z } from 'zod'
import { reference } from '../fields.ts'
import { type Column, field, operation } from '../operation.ts'
import { priceShape, rateFields } from './price-fields.ts'

const columns: readonly Column[] = [
  { field: 'model', title: 'MODEL' },
  { field: 'vendor', title: 'VENDOR' },
  { field: 'provider', title: 'PROVIDER' },
  { field: 'input', title: 'INPUT', format: 'rate' },
  { field: 'cache_read', title: 'CACHE READ', format: 'rate' },
  { field: 'output', title: 'OUTPUT', format: 'rate' },
  { field: 'source', title: 'SOURCE' },
  { field: 'version', title: 'VERSION' },
]
const model = {
  model: field(reference, { description: 'Name of the model, as the provider calls it', prompt: 'Which model?' }),
}
const provider = {
  provider: field(reference.optional(), {
    description: 'Only for this provider (name or ID); its own price goes before the general one of the model',
  }),
}
const changed = { changed: z.number(), version: z.string() }

const files = {
  files: field(z.record(z.string(), z.string()), {
    description: 'JSON file with a price as `prices show --json` prints it, or a list of them',
    label: 'Files',
    help: 'JSON files with prices',
    flag: 'file',
    syntax: 'files',
  }),
}

export const prices = {
  list: operation({
    summary: 'List prices of models, in USD per million tokens',
    role: 'viewer',
    reach: 'workspace',
    effect: 'read',
    show: { as: 'table', columns, empty: 'No price matches. Set one: spgw prices set MODEL --input USD --output USD' },
    examples: ['prices list', 'prices list --match gpt-5', 'prices list --vendor anthropic', 'prices list --changed'],
  })
    .input(
      z.strictObject({
        match: field(z.string().min(1).optional(), {
          description: 'Only models whose name contains this',
          label: 'Name contains',
        }),
        vendor: field(z.string().min(1).optional(), { description: 'Only of this vendor (openai, bedrock, groq …)' }),
        changed: field(z.boolean().default(false), { description: 'Only prices that were set or imported' }),
        model: field(reference.optional(), {
          description: 'Only the price that applies to this model',
        }),
        provider: field(reference.optional(), {
          description: 'Only of this provider',
        }),
      }),
    )
    .output(z.array(priceShape)),
  show: operation({
    summary: 'Show the price of a model',
    role: 'viewer',
    reach: 'workspace',
    effect: 'read',
    show: { as: 'record' },
    positional: ['model'],
    examples: ['prices show gpt-4o', 'prices show us.anthropic.claude-sonnet-4-5-20250929-v1:0 --provider aws'],
  })
    .input(z.strictObject({ ...model, ...provider }))
    .output(priceShape),
  set: operation({
    summary: 'Set the whole price of a model; a rate that is not named does not exist',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: { as: 'record' },
    positional: ['model'],
    examples: [
      'prices set house-model --input 0.5 --output 1.5',
      'prices set gpt-4o --provider azure-eu --input 2.75 --cache-read 1.375 --output 11',
      'prices set gpt-image-1 --input 5 --image-output 40 --per-image 1024x1024/high=0.167',
    ],
  })
    .input(z.strictObject({ ...model, ...provider, ...rateFields }))
    .output(priceShape),
  remove: operation({
    summary: 'Remove a price that was set or imported; the shipped one applies again',
    role: 'admin',
    reach: 'workspace',
    effect: 'danger',
    show: { as: 'record' },
    positional: ['model'],
    examples: ['prices remove house-model', 'prices remove gpt-4o --provider azure-eu'],
    confirm: 'Remove the price of {model}? The shipped price applies again, or none.',
  })
    .input(z.strictObject({ ...model, ...provider }))
    .output(z.object({ model: z.string(), provider: z.string().nullable(), removed: z.literal(true) })),
  import: operation({
    summary: 'Import prices of models from JSON files; each replaces the whole price that was set for its model',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: { as: 'record' },
    positional: ['files'],
    examples: ['prices import prices.json'],
  })
    .input(z.strictObject(files))
    .output(z.object(changed)),
  update: operation({
    summary: 'Replace the shipped price table by that of a file, or return to it',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: { as: 'record' },
    examples: ['prices update --file table.json', 'prices update --shipped'],
  })
    .input(
      z.strictObject({
        files: field(z.record(z.string(), z.string()).optional(), {
          description:
            'JSON file with the whole table, as `prices list --json` prints it, or the price file of LiteLLM',
          label: 'Files',
          help: 'JSON files with prices',
          flag: 'file',
          syntax: 'files',
        }),
        shipped: field(z.boolean().default(false), { description: 'Return to the table that came with this version' }),
      }),
    )
    .output(z.object(changed)),
}
