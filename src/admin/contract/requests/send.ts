import { eventIterator } from '@orpc/contract'
import { z } from 'zod'
import { laneName, reference, scopeFields } from '../fields.ts'
import { field, operation } from '../operation.ts'

/** What comes of one request, as it comes: its head, the answer piece by piece, and its end. */
export const sentEvent = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('begin'),
    request_id: z.string(),
    lane: laneName,
    status: z.number(),
    /** Below the gateway's URL. */
    path: z.string(),
    /** As it was sent, and what came before the answer's body; no credential is among it. */
    request_body: z.string(),
    headers: z.record(z.string(), z.string()),
    text: z.null(),
  }),
  z.object({
    kind: z.literal('part'),
    /** Since it was sent. */
    at_ms: z.number(),
    /** What a person reads of it; '' where it holds no text. */
    text: z.string(),
    /** As the lane sent it. */
    raw: z.string(),
  }),
  z.object({
    kind: z.literal('end'),
    duration_ms: z.number(),
    /** null: no text came. */
    first_text_ms: z.number().nullable(),
    /** null: the answer came to its end. */
    error: z.string().nullable(),
    text: z.null(),
  }),
])
export type SentEvent = z.infer<typeof sentEvent>

/** How a request that is sent is told, line by line. */
export const sentColumns = [
  { field: 'kind', title: 'KIND' },
  { field: 'status', title: 'STATUS', format: 'state' },
  { field: 'text', title: 'TEXT' },
  { field: 'request_id', title: 'REQUEST', format: 'id' },
] as const

export const send = operation({
  summary: 'Send a request through the gateway and show the response as it arrives',
  role: 'admin',
  reach: 'project',
  effect: 'write',
  show: { as: 'live', columns: sentColumns },
  positional: ['model', 'message'],
  examples: [
    "requests send gpt-4o-mini 'Say hello.'",
    "requests send claude-sonnet 'Say hello.' --key ci --lane anthropic --json",
  ],
})
  .input(
    z.strictObject({
      model: field(reference, { description: 'Model name as a client sends it', prompt: 'Model' }),
      message: field(z.string().min(1).optional(), { description: 'Message to send' }),
      ...scopeFields,
      key: field(reference.optional(), {
        description: 'Key to send it as, with its policies: name, ID or last four (default: no key)',
        label: 'Send as key',
        help: 'Name, ID or last four; the policies of the key apply. Empty: no key',
      }),
      lane: field(laneName.optional(), {
        description: "Lane to send it on (default: the lane of the route's provider)",
      }),
      system: field(z.string().min(1).optional(), { description: 'System instructions' }),
      maxTokens: field(z.int().positive().optional(), { description: 'Maximum number of output tokens' }),
      temperature: field(z.number().min(0).max(2).optional(), { description: 'Sampling temperature, from 0 to 2' }),
      whole: field(z.boolean().default(false), { description: 'Do not stream the response', label: 'Do not stream' }),
      body: field(z.string().min(2).optional(), {
        description: "Request body as JSON in the lane's format, instead of message and settings",
      }),
    }),
  )
  .output(eventIterator(sentEvent))
