import { type MockUsage, spoken, spokenText } from '../mock-format.ts'
import type { MockObject } from '../mock-objects.ts'
import { type FamilyCall, type FamilyRow, type Given, on, Refusal } from '../openai/family.ts'

/** Interactions, whole and streamed, kept unless the caller says no. Source: wire/streaming.md, section 4. */
export const interactions: readonly FamilyRow[] = [
  on('POST /interactions', create, 'json', 'input'),
  on('GET /interactions/{id}', ({ account, call, ids, usage }) => {
    const found = account.find('interaction', ids[0] ?? '')
    if (found === null) return gone(ids[0])
    return call.query.get('stream') === 'true'
      ? events(found, usage, call.query.get('last_event_id'))
      : shown(found, usage)
  }),
  on('POST /interactions/{id}/cancel', ({ account, ids, usage }) => {
    const found = account.find('interaction', ids[0] ?? '')
    return found === null ? gone(ids[0]) : { ...shown(found, usage), status: 'cancelled' }
  }),
  on('DELETE /interactions/{id}', ({ account, ids }) =>
    account.drop('interaction', ids[0] ?? '') ? {} : gone(ids[0]),
  ),
]

function gone(id = ''): Refusal {
  return new Refusal(404, `Interaction ${id} not found.`)
}

function create({ account, body, call, usage }: FamilyCall): Given {
  if (typeof body.model !== 'string' && typeof body.agent !== 'string')
    return new Refusal(400, 'model or agent is not specified')
  const before = body.previous_interaction_id
  if (typeof before === 'string' && account.find('interaction', before) === null) return gone(before)
  const made = { id: call.objects.nextId('v1_'), object: 'interaction', model: body.model, status: 'completed' }
  if (body.store !== false) account.keep('interaction', made)
  return body.stream === true ? events(made, usage, null) : shown(made, usage)
}

function shown(interaction: MockObject, usage: MockUsage) {
  const output = [{ type: 'text', text: spokenText }]
  return {
    ...interaction,
    outputs: output,
    steps: [{ type: 'model_output', content: output }],
    usage: interactionUsage(usage),
  }
}

function events(interaction: MockObject, usage: MockUsage, after: string | null): Given {
  const { id, model } = interaction
  const told = [
    { event_type: 'interaction.created', interaction: { id, model, object: 'interaction', status: 'in_progress' } },
    { event_type: 'step.start', index: 0, step: { type: 'model_output', content: [] } },
    ...spoken.map((text) => ({ event_type: 'step.delta', index: 0, delta: { type: 'text', text } })),
    { event_type: 'step.stop', index: 0 },
    {
      event_type: 'interaction.completed',
      interaction: { id, model, object: 'interaction', status: 'completed', usage: interactionUsage(usage) },
    },
  ].map((event, index) => ({ ...event, event_id: `e${index}` }))
  const start = after === null ? 0 : told.findIndex(({ event_id }) => event_id === after) + 1
  const lines = told.slice(start).map((event) => `event: ${event.event_type}\ndata: ${JSON.stringify(event)}\n\n`)
  return { stream: [...lines, 'event: done\ndata: [DONE]\n\n'], tokens: true }
}

/** Thoughts stand beside the output's tokens; a prompt's cached ones are in it. */
export function interactionUsage(usage: MockUsage) {
  return {
    total_input_tokens: usage.input,
    total_cached_tokens: usage.cacheRead,
    total_output_tokens: usage.output - usage.reasoning,
    total_thought_tokens: usage.reasoning,
    total_tool_use_tokens: 0,
    total_tokens: usage.input + usage.output,
  }
}
