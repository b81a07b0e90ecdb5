import { eventIterator } from '@orpc/contract'
import { z } from 'zod'
import { momentText, reference } from './fields.ts'
import { field, operation } from './operation.ts'

const recomputed = z.object({
  done: z.boolean(),
  /** The time of the record that was looked at last. */
  time: z.string().nullable(),
  checked: z.number(),
  changed: z.number(),
  /** Of those that used something: no price is known, so that their cost stays what it was. */
  unpriced: z.number(),
  /** Connections whose turns asked several models: what each of them used is not recorded, so that their cost stays what it was. */
  several_models: z.number(),
  /** In words, which costs stay and why. */
  kept: z.array(z.string()),
  before_usd: z.number(),
  after_usd: z.number(),
  /** Where nodes share no records, the other nodes, whose records keep their cost: each recomputes its own. */
  elsewhere: z.array(z.string()),
  /** Nodes that have the new cost not in their own databases yet: those that are away put it there when they are back. */
  missing: z.array(z.string()),
  /** Those of them that run an earlier version, and put it there once they are upgraded. */
  outdated: z.array(z.string()),
})
export type Recomputed = z.infer<typeof recomputed>

const reconciled = z.object({
  day: z.string(),
  model: z.string(),
  requests: z.number(),
  provider_requests: z.number().nullable(),
  input: z.number(),
  provider_input: z.number().nullable(),
  output: z.number(),
  provider_output: z.number().nullable(),
  usd: z.number().nullable(),
  provider_usd: z.number().nullable(),
  /** What the gateway recorded above what the provider exported. Null: the export does not say. */
  difference_usd: z.number().nullable(),
  difference_tokens: z.number().nullable(),
})
export type Reconciled = z.infer<typeof reconciled>

export const cost = {
  recompute: operation({
    summary: 'Compute the cost of recorded requests again, at current prices',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: {
      as: 'live',
      columns: [
        { field: 'time', title: 'BACK TO', format: 'time' },
        { field: 'checked', title: 'CHECKED', format: 'number', also: { field: 'elsewhere', join: ', not those of ' } },
        { field: 'changed', title: 'CHANGED', format: 'number', also: { field: 'missing', join: ', not yet on ' } },
        { field: 'unpriced', title: 'UNPRICED', format: 'number', also: { field: 'kept', join: '; ' } },
        { field: 'before_usd', title: 'BEFORE', format: 'money' },
        {
          ...{ field: 'after_usd', title: 'AFTER', format: 'money' },
          also: { field: 'outdated', join: '; once upgraded also on ' },
        },
      ],
    },
    examples: ['cost recompute --since 30d', 'cost recompute --since 2026-01-01 --provider azure-eu'],
  })
    .input(
      z.strictObject({
        since: field(momentText, {
          description: 'Start: a duration before now, such as 30d, or a time',
          prompt: 'Since when? (30d, or a time)',
        }),
        provider: field(reference.optional(), { description: 'Only requests that this provider answered' }),
      }),
    )
    .output(eventIterator(recomputed)),
  reconcile: operation({
    summary: "Compare recorded usage and cost with a provider's own usage export, by day and model",
    role: 'viewer',
    reach: 'workspace',
    effect: 'read',
    show: {
      as: 'table',
      columns: [
        { field: 'day', title: 'DAY' },
        { field: 'model', title: 'MODEL' },
        { field: 'requests', title: 'REQUESTS', format: 'number', minor: true },
        { field: 'provider_requests', title: 'EXPORTED', format: 'number', minor: true },
        { field: 'input', title: 'TOKENS IN', format: 'number' },
        { field: 'provider_input', title: 'EXPORTED', format: 'number' },
        { field: 'output', title: 'TOKENS OUT', format: 'number' },
        { field: 'provider_output', title: 'EXPORTED', format: 'number' },
        { field: 'usd', title: 'COST', format: 'money' },
        { field: 'provider_usd', title: 'EXPORTED', format: 'money' },
        { field: 'difference_tokens', title: 'MORE TOKENS', format: 'number', optional: true },
        { field: 'difference_usd', title: 'MORE COST', format: 'money', optional: true },
      ],
      empty: 'The export has no usage.',
    },
    positional: ['files'],
    examples: ['cost reconcile usage.csv --provider openai'],
  })
    .input(
      z.strictObject({
        files: field(z.record(z.string(), z.string()), {
          description: "The provider's usage or cost export: CSV files as its own console downloads them",
          label: 'Files',
          help: "CSV files as the provider's console downloads them",
          flag: 'file',
          syntax: 'files',
        }),
        provider: field(reference, { description: 'The provider that exported it', prompt: 'Of which provider?' }),
      }),
    )
    .output(z.array(reconciled)),
}
