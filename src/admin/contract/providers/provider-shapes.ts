import { z } from 'zod'
import { attemptFields, laneName, owned, stateFields, tags, time, timeouts } from '../fields.ts'

const settings = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))

/** A stored credential as anybody may see it: it is write-only. */
export const credentialShape = z.object({ id: z.string(), last_four: z.string(), added_at: time })

const accountUsageShape = z.object({
  /** `provider:NAME` */
  scope: z.string(),
  kind: z.enum(['requests', 'tokens', 'usd']),
  /** null: in any 60 seconds. */
  period: z.enum(['month']).nullable(),
  used: z.number(),
  /** Nodes count it together, and `used` includes what they hold in hand for the next seconds; absent: it does not. */
  used_includes_held: z.literal(true).optional(),
  /** By requests in progress; null: it is no budget. */
  held: z.number().nullable(),
  limit: z.number(),
  /** When all of it is free again, if nothing more is used; null: at once. */
  resets_at: time.nullable(),
})

export const providerShape = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.string(),
  /** The operator's switch. */
  active: z.boolean(),
  /** What the gateway found. */
  ...stateFields,
  /** Of a failing one, as `reason` of a check, or `quota_exhausted`; null where none was noted. */
  state_code: z.string().nullable(),
  /** null to whoever was given single projects only: headers, tags, time limits, settings and credentials are empty then. */
  base_url: z.string().nullable(),
  headers: z.record(z.string(), z.string()),
  /** Names of the projects that may use it; null is all. */
  projects: z.array(z.string()).nullable(),
  tags,
  timeouts,
  settings,
  credentials: z.array(credentialShape),
  models: z.array(
    z.object({ name: z.string(), context_tokens: z.number().nullable(), output_tokens: z.number().nullable() }),
  ),
  /** What its account may be used for, by all keys together; null: no limit. */
  rpm: z.number().nullable(),
  tpm: z.number().nullable(),
  budget_usd_month: z.number().nullable(),
  /** What is used of these; empty where there are none, and to whoever was given single projects only. */
  limits: z.array(accountUsageShape),
  revision: z.number(),
  /** How many routes have it as a target. */
  routes: z.number(),
  /** What calls go to, each with a state of its own: one target's trouble never makes the provider failing. */
  targets: z.array(z.object({ provider: z.string(), upstream_model: z.string(), ...stateFields })),
  /** Calls that name no model (`concerns` says which) have a state of their own as well; null: none has gone there lately. */
  calls_without_model: z.object({ concerns: z.string(), ...stateFields }).nullable(),
  /** Counts attempts, not requests; `requests` and `errors` are other names of `tried` and `failed`. */
  last_hour: z.object({
    requests: z.number(),
    errors: z.number(),
    ...attemptFields,
    duration_p95_ms: z.number().nullable(),
  }),
  owned,
  created_at: time,
})

export const revisionShape = z.object({
  number: z.number(),
  active: z.boolean(),
  base_url: z.string(),
  headers: z.record(z.string(), z.string()),
  timeouts,
  settings,
  credentials: z.array(credentialShape),
  created_at: time,
  created_by: z.string(),
})

export const checkShape = z.object({
  provider: z.string(),
  ok: z.boolean(),
  /** `credential_rejected`, `unreachable`, `wrong_url`, `unexpected`, `credential_sealed` (it does not open); null when ok. */
  reason: z.string().nullable(),
  message: z.string(),
  models: z.array(z.string()),
  /** Each of the pool by itself. The provider is well as long as one of them is. */
  credentials: z.array(
    z.object({
      id: z.string(),
      last_four: z.string(),
      ok: z.boolean(),
      reason: z.string().nullable(),
      message: z.string(),
    }),
  ),
})

export const kindShape = z.object({
  kind: z.string(),
  title: z.string(),
  /** One line for forms: what one gets with it. */
  description: z.string(),
  speaks: z.array(laneName),
  /** null: the operator must give one. A word in braces stands for the setting of that name. */
  default_base_url: z.string().nullable(),
  credential: z.enum(['required', 'optional', 'none']),
  /** Whether one word (an API key) is a credential. */
  credential_word: z.boolean(),
  /** Credentials that are a JSON document, with the members that each must have. */
  credential_documents: z.array(z.object({ title: z.string(), members: z.array(z.string()) })),
  /** JSON Schema of the kind's own settings, from which forms are drawn. */
  settings: z.record(z.string(), z.unknown()),
  /** Which input field of `providers.add` and `edit` carries each setting. */
  own_settings: z.array(z.object({ setting: z.string(), field: z.string(), flag: z.string() })),
  /** Known servers and vendors of the kind: values of its setting `preset`. */
  presets: z.array(
    z.object({
      name: z.string(),
      title: z.string(),
      base_url: z.string(),
      credential: z.enum(['required', 'optional']),
      /** What an operator should know; null: nothing. */
      note: z.string().nullable(),
    }),
  ),
})
