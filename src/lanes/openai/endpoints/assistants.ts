import type { Endpoint } from '../../contract.ts'
import { forgets, json, lists, makes, row, uses } from '../../endpoint-row.ts'

const thread = uses('thread')

/** The vendor's former way to keep state, which its SDKs still have. Source: wire/lanes.md, section 1.3. */
export const assistants: readonly Endpoint[] = [
  row('assistants.create', 'POST /assistants', { model: 'body', takes: json, object: makes('assistant') }),
  row('assistants.list', 'GET /assistants', { object: lists('assistant') }),
  row('assistants.get', 'GET /assistants/{object}', { object: uses('assistant') }),
  row('assistants.update', 'POST /assistants/{object}', {
    model: 'body-optional',
    takes: json,
    object: uses('assistant'),
  }),
  row('assistants.delete', 'DELETE /assistants/{object}', { object: forgets('assistant') }),

  row('threads.create', 'POST /threads', { takes: json, object: makes('thread') }),
  row('threads.run', 'POST /threads/runs', {
    model: 'body-optional',
    takes: json,
    stream: 'sse',
    object: makes('thread'),
  }),
  row('threads.get', 'GET /threads/{object}', { object: thread }),
  row('threads.update', 'POST /threads/{object}', { takes: json, object: thread }),
  row('threads.delete', 'DELETE /threads/{object}', { object: forgets('thread') }),
  row('threads.messages.create', 'POST /threads/{object}/messages', { takes: json, object: thread }),
  row('threads.messages.list', 'GET /threads/{object}/messages', { object: thread }),
  row('threads.messages.get', 'GET /threads/{object}/messages/{message}', { object: thread }),
  row('threads.messages.update', 'POST /threads/{object}/messages/{message}', { takes: json, object: thread }),
  row('threads.messages.delete', 'DELETE /threads/{object}/messages/{message}', { object: thread }),
  row('threads.runs.create', 'POST /threads/{object}/runs', {
    model: 'body-optional',
    takes: json,
    stream: 'sse',
    object: thread,
  }),
  row('threads.runs.list', 'GET /threads/{object}/runs', { object: thread, brings: 'end' }),
  row('threads.runs.get', 'GET /threads/{object}/runs/{run}', { object: thread, brings: 'end' }),
  row('threads.runs.update', 'POST /threads/{object}/runs/{run}', { takes: json, object: thread }),
  row('threads.runs.cancel', 'POST /threads/{object}/runs/{run}/cancel', { object: thread, brings: 'end' }),
  row('threads.runs.submit', 'POST /threads/{object}/runs/{run}/submit_tool_outputs', {
    takes: json,
    stream: 'sse',
    object: thread,
  }),
  row('threads.runs.steps', 'GET /threads/{object}/runs/{run}/steps', { object: thread }),
  row('threads.runs.step', 'GET /threads/{object}/runs/{run}/steps/{step}', { object: thread }),
]
