import { z } from 'zod'
import { formatNames } from '../../../core/format.ts'
import { mostTargets } from '../../../core/routes/written-target.ts'
import {
  countedUser,
  durationText,
  forceField,
  laneName,
  listScopeFields,
  nodesReached,
  owned,
  reference,
  removedAccess,
  scopeFields,
  stateFields,
  time,
  timeoutFields,
  timeouts,
} from '../fields.ts'
import { field, operation } from '../operation.ts'
import { limitShape, periodShape } from '../policies/limit-usage.ts'
import { signalShape } from '../requests/record.ts'
import { losses } from './losses.ts'
import { pastShape } from './past-request.ts'
import { traffic } from './route-traffic.ts'

const optionFields = {
  /** Prompts that a target has in its cache go there again. */
  sticky: z.boolean(),
  /** When a second target is asked as well: a duration or `p95`, and percent of the requests at most; null: never. */
  hedge: z.object({ after: z.string(), share: z.number() }).nullable(),
  /** `PROVIDER[:MODEL]`, which gets each answered request once more; null: none does. */
  shadow: z.string().nullable(),
}

export const routeShape = z.object({
  id: z.string(),
  model: z.string(),
  project: z.string(),
  /** null: all environments of the project. */
  environment: z.string().nullable(),
  enabled: z.boolean(),
  strategy: z.enum(['priority', 'weighted', 'latency', 'cost']),
  targets: z.array(
    z.object({
      provider: z.string(),
      /** null: the same name that the client asked for. */
      upstream_model: z.string().nullable(),
      weight: z.number(),
      priority: z.number(),
      /** The format to ask in; null: the call's own where the provider has it. */
      format: z.enum(formatNames).nullable(),
      /**
       * In which it is asked, in order of preference: a call in another is translated into the first. Behind a pattern, names have orders of
       * their own, which `routes.explain` says.
       */
      formats: z.array(z.enum(formatNames)),
      /** Behind a pattern, of its names together until they have succeeded. */
      ...stateFields,
    }),
  ),
  retries: z.number(),
  /** Empty: the default list. */
  fallback_on: z.array(z.string()),
  timeouts,
  strict: z.boolean(),
  /** Answers show the name that the client asked for. */
  echo_model: z.boolean(),
  ...optionFields,
  /** Translated chat answers show what the model thought, as `reasoning_content`. */
  reasoning_text: z.boolean(),
  /** Images and documents by address are fetched for providers that do not fetch them. */
  fetch_media: z.boolean(),
  /** How long its answers are given again to the same requests; null: not at all. */
  cache_ms: z.number().nullable(),
  keep_responses_ms: z.number().nullable(),
  owned,
  created_at: time,
})

const columns = [
  { field: 'model', title: 'MODEL' },
  { field: 'targets', title: 'TARGETS', format: 'targets' },
  { field: 'strategy', title: 'STRATEGY' },
  { field: 'project', title: 'PROJECT' },
  { field: 'environment', title: 'ENVIRONMENT', absent: 'all' },
  { field: 'enabled', title: 'ENABLED' },
] as const
const record = { as: 'record' } as const

const allEnvironments = field(z.boolean().default(false), {
  description: 'The route is for all environments of the project',
})
const one = z.strictObject({
  model: field(reference, {
    description: 'Model name, pattern or ID of the route',
    prompt: 'Which route?',
    acceptsId: true,
  }),
  ...scopeFields,
  allEnvironments,
})
const settable = {
  provider: field(reference.optional(), {
    description: 'Provider to send requests to, if there is only one target',
    prompt: 'Provider',
    instead: 'targets',
  }),
  upstreamModel: field(z.string().min(1).optional(), {
    description: "Provider's name for the model (default: the same name)",
  }),
  targets: field(z.array(z.string()).max(mostTargets).optional(), {
    description: 'Target, in order of priority: PROVIDER[:MODEL][,weight=N][,priority=N][,format=FORMAT]',
    label: 'Targets',
    help: 'Where requests are sent, in order of priority',
    flag: 'target',
    syntax: 'target',
  }),
  strategy: field(z.enum(['priority', 'weighted', 'latency', 'cost']).optional(), {
    description: 'How to choose among targets of equal priority (default: priority, in the order given)',
  }),
  retries: field(z.int().min(0).max(10).optional(), { description: 'Retries on the same target (default: 1)' }),
  fallbackOn: field(z.array(z.string()).optional(), {
    description:
      'Statuses and error codes that move on to the next target, separated by commas; also content_filter, context_length, and default for the built-in list',
    help: 'Statuses and error codes that move on to the next target; also content_filter, context_length, and default for the built-in list',
    syntax: 'list',
  }),
  ...timeoutFields,
  strict: field(z.boolean().optional(), { description: 'Reject requests that cannot be translated without loss' }),
  echoModel: field(z.boolean().optional(), {
    description: "Show the client's name for the model in answers, instead of the provider's",
  }),
  sticky: field(z.boolean().optional(), {
    description: 'Send prompts of 1,024 tokens or more to the target that has them in its cache',
  }),
  hedgeAfter: field(z.string().min(1).optional(), {
    description: 'Ask a second target if the first has been silent for so long: a duration, p95 or none',
    help: 'Ask a second target if the first has been silent for so long: a duration, p95 (as long as 95 of 100 requests take) or none',
  }),
  hedgeShare: field(z.int().min(1).max(100).optional(), {
    description: 'Percent of requests that may be sent to a second target (default: 5)',
  }),
  shadow: field(z.string().min(1).optional(), {
    description: 'Target that gets answered requests once more, for comparison: PROVIDER[:MODEL] or none',
    help: 'Target that gets answered requests once more, for comparison: PROVIDER[:MODEL] or none. Clients never see its answers',
  }),
  reasoningText: field(z.enum(['on', 'off']).optional(), {
    description: 'Show what the model thought in translated chat answers, as `reasoning_content` (default: on)',
    label: 'Reasoning in chat answers',
    help: 'Show what the model thought in translated chat answers, as reasoning_content',
  }),
  fetchMedia: field(z.boolean().optional(), {
    description: 'Fetch images and PDFs that a translated request names by address, for providers that do not',
    label: 'Fetch images by address',
  }),
  keepResponses: field(durationText.nullable().optional(), {
    description: 'Time to keep translated Responses, for `previous_response_id` and retrieval (none: off)',
    label: 'Keep translated Responses for',
    help: 'So long previous_response_id and retrieval work on translated targets: from 1m to 30d. Empty: off',
    syntax: 'duration',
  }),
  cache: field(durationText.nullable().optional(), {
    description:
      'Time for which the same request of the same project and environment gets the same answer again (none: off)',
    label: 'Cache answers for',
    help: 'The same request of the same project and environment gets the same answer again, at no cost. Empty: off',
    syntax: 'duration',
  }),
}

export const tryShape = z.object({
  ok: z.boolean(),
  status: z.number(),
  request_id: z.string(),
  lane: laneName,
  provider: z.string().nullable(),
  upstream_model: z.string().nullable(),
  duration_ms: z.number().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
})

const targetShape = z.object({
  provider: z.string(),
  upstream_model: z.string(),
  reason: z.string(),
  /** null: it is asked in the request's own format. `embeds`: a call for vectors, from one lane to another. */
  translated: z
    .object({ from: z.enum(formatNames), to: z.enum(formatNames), embeds: z.literal(true).optional() })
    .nullable(),
  /** Of a body that is translated, what would not reach the provider, by name. */
  losses: z.array(z.string()).nullable(),
  /** What the request would cost there; null: there is no price, or it is skipped. */
  estimate_usd: z.number().nullable(),
  /** Of streamed calls to the first byte, of whole ones to the end; null: nothing has been measured. */
  latency_ms: z.number().nullable(),
})
/** null: each end user has a counter of its own. */
const left = { left: z.number().nullable() }

export const explanationShape = z.object({
  model: z.string(),
  lane: laneName,
  /** The past request that was asked about, and where it was sent then. */
  request: pastShape.nullable(),
  project: z.string(),
  environment: z.string(),
  /** With where it is. */
  key: z.object({ id: z.string(), name: z.string(), project: z.string(), environment: z.string() }).nullable(),
  route: z
    .object({
      id: z.string(),
      model: z.string(),
      project: z.string(),
      environment: z.string().nullable(),
      strategy: z.string(),
      ...optionFields,
    })
    .nullable(),
  /** In the order in which they would be tried. */
  taken: z.array(targetShape),
  skipped: z.array(targetShape),
  /** With a key only: what is used of its limits and budgets, and what of them is left. */
  limits: z.array(limitShape.extend(left)),
  periods: z.array(periodShape.extend(left)),
  /** With a key only: what its policies say. */
  policy_signals: z.array(signalShape),
  routing_signals: z.array(signalShape),
  /** null: the request would be sent. */
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  /** For operators only: a hint that a client must not see. */
  note: z.string().nullable(),
})

const cache = {
  clear: operation({
    summary: 'Remove the cached answers of a route',
    role: 'admin',
    reach: 'project',
    effect: 'write',
    show: record,
    positional: ['model'],
    examples: ['routes cache clear gpt-4o-mini'],
  })
    .input(one)
    .output(z.object({ id: z.string(), model: z.string(), cleared: z.number() })),
}
const disabledField = { disabled: field(z.boolean().optional(), { description: 'Stop sending traffic through it' }) }
export const routes = {
  add: operation({
    summary: 'Add a route from a model name or pattern to providers',
    role: 'admin',
    reach: 'project',
    effect: 'write',
    show: record,
    positional: ['model'],
    aliases: ['create'],
    examples: [
      'routes add gpt-4o-mini --provider openai',
      'routes add fast --provider groq --upstream-model llama-3.1-8b-instant',
      'routes add text-embedding-3-small --provider openai --cache 1d',
      "routes add 'gpt-*' --target openai --target azure --all-environments",
    ],
  })
    .input(
      z.strictObject({
        model: field(reference, { description: 'Model name, or a pattern with one *', prompt: 'Model' }),
        ...scopeFields,
        allEnvironments,
        ...settable,
        disabled: field(z.boolean().default(false), { description: 'Add it without sending it traffic' }),
      }),
    )
    .output(routeShape),
  list: operation({
    summary: 'List routes',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: { as: 'table', columns, empty: 'No routes yet. Add one: spgw routes add MODEL --provider NAME' },
    examples: ['routes list', 'routes list --all'],
  })
    .input(z.strictObject(listScopeFields))
    .output(z.array(routeShape)),
  show: operation({
    summary: 'Show a route',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: record,
    positional: ['model'],
    examples: ['routes show gpt-4o-mini'],
  })
    .input(one)
    .output(routeShape),
  edit: operation({
    summary: 'Change a route',
    role: 'admin',
    reach: 'project',
    effect: 'write',
    show: record,
    positional: ['model'],
    examples: ['routes edit gpt-4o-mini --target openai --target azure', 'routes edit gpt-4o-mini --retries 2'],
  })
    .input(one.extend({ ...settable, ...disabledField, ...forceField }))
    .output(routeShape.extend({ nodes: nodesReached })),
  traffic,
  losses,
  test: operation({
    summary: 'Send one small real request through a route',
    role: 'admin',
    reach: 'project',
    effect: 'write',
    show: record,
    positional: ['model'],
    examples: ['routes test gpt-4o-mini', 'routes test claude-sonnet --lane anthropic'],
  })
    .input(
      z.strictObject({
        model: field(reference, { description: 'Model name as a client sends it', prompt: 'Model' }),
        ...scopeFields,
        lane: field(laneName.optional(), {
          description: "Lane to send it on (default: the lane of the route's provider)",
        }),
      }),
    )
    .output(tryShape),
  explain: operation({
    summary: 'Explain what would happen to a request, without sending it',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: record,
    positional: ['model'],
    examples: [
      'routes explain gpt-4o --key ci',
      'routes explain --body request.json --key ci',
      'routes explain --request req_01J9Z3K5D7V8',
    ],
  })
    .input(
      z.strictObject({
        model: field(reference.optional(), {
          description: 'Model name as a client sends it (default: the one in --body or --request)',
        }),
        body: field(z.record(z.string(), z.string()).optional(), {
          description: 'File with the JSON body of the request',
          label: 'Body',
          flag: 'body',
          syntax: 'files',
        }),
        request: field(z.string().min(1).optional(), { description: 'ID of a past request to explain as of now' }),
        ...scopeFields,
        key: field(reference.optional(), { description: 'Key whose scope and policies apply (name, ID or last four)' }),
        lane: field(laneName.optional(), {
          description: "Lane of the request (default: the lane of the route's provider)",
        }),
        user: countedUser,
      }),
    )
    .output(explanationShape),
  enable: operation({
    summary: 'Send traffic through a route again',
    role: 'admin',
    reach: 'project',
    effect: 'write',
    show: record,
    positional: ['model'],
    examples: ['routes enable gpt-4o-mini'],
  })
    .input(one.extend(forceField))
    .output(routeShape),
  disable: operation({
    summary: 'Stop sending traffic through a route',
    role: 'admin',
    reach: 'project',
    effect: 'write',
    show: record,
    positional: ['model'],
    examples: ['routes disable gpt-4o-mini'],
  })
    .input(one.extend(forceField))
    .output(routeShape.extend({ nodes: nodesReached })),
  remove: operation({
    summary: 'Remove a route',
    role: 'admin',
    reach: 'project',
    effect: 'danger',
    show: record,
    positional: ['model'],
    examples: ['routes remove gpt-4o-mini'],
    confirm: 'Remove the route for {model}? Requests for it will fail with model_not_found.',
  })
    .input(one.extend(forceField))
    .output(removedAccess),
  cache,
}
