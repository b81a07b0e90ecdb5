import { type JsonObject, spoken, spokenText } from '../mock-format.ts'
import type { MockObject } from '../mock-objects.ts'
import {
  created,
  type FamilyCall,
  type FamilyRow,
  type Given,
  list,
  make,
  notFound,
  on,
  page,
  Refusal,
  remove,
  show,
  update,
  withInner,
  withOne,
} from './family.ts'

/** Assistants and threads, as long as the vendor has them: all want their beta header. */
export const assistants: readonly FamilyRow[] = [
  on('POST /assistants', make('assistant', 'asst_', assistantOf), 'json', 'model'),
  on('GET /assistants', list('assistant')),
  on('GET /assistants/{id}', withOne('assistant', show)),
  on('POST /assistants/{id}', update('assistant'), 'json'),
  on('DELETE /assistants/{id}', remove('assistant')),

  on('POST /threads', makeThread, 'json'),
  on('POST /threads/runs', (given) => createRun(makeThread(given), given), 'json', 'assistant_id'),
  on('GET /threads/{id}', withOne('thread', show)),
  on('POST /threads/{id}', update('thread'), 'json'),
  on('DELETE /threads/{id}', remove('thread')),
  on('POST /threads/{id}/messages', withOne('thread', addMessage), 'json', 'role', 'content'),
  on('GET /threads/{id}/messages', withOne('thread', inside('message'))),
  on('GET /threads/{id}/messages/{message}', withInner('thread', 'message', show)),
  on('POST /threads/{id}/messages/{message}', withInner('thread', 'message', change), 'json'),
  on('DELETE /threads/{id}/messages/{message}', withInner('thread', 'message', removeMessage)),
  on('POST /threads/{id}/runs', withOne('thread', createRun), 'json', 'assistant_id'),
  on('GET /threads/{id}/runs', withOne('thread', inside('run'))),
  on('GET /threads/{id}/runs/{run}', withInner('thread', 'run', show)),
  on('POST /threads/{id}/runs/{run}', withInner('thread', 'run', change), 'json'),
  on(
    'POST /threads/{id}/runs/{run}/cancel',
    withInner('thread', 'run', (run) => Object.assign(run, { status: 'cancelling' })),
  ),
  on('POST /threads/{id}/runs/{run}/submit_tool_outputs', withInner('thread', 'run', submit), 'json', 'tool_outputs'),
  on(
    'GET /threads/{id}/runs/{run}/steps',
    withInner('thread', 'run', (run, { call }) => page([stepOf(run)], call.query)),
  ),
  on('GET /threads/{id}/runs/{run}/steps/{step}', withInner('thread', 'run', stepOf)),
]

function assistantOf({ body }: FamilyCall): JsonObject {
  return { object: 'assistant', created_at: created, name: null, tools: [], metadata: {}, ...body }
}

function makeThread(given: FamilyCall): MockObject {
  const { account, call, body } = given
  const thread = {
    id: call.objects.nextId('thread_'),
    object: 'thread',
    created_at: created,
    metadata: body.metadata ?? {},
  }
  return account.keep('thread', thread)
}

function inside(kind: string) {
  return ({ id }: MockObject, { account, call }: FamilyCall): Given => page(account.all(`${id}/${kind}`), call.query)
}

function addMessage(thread: MockObject, { account, call, body }: FamilyCall): Given {
  for (const { file_id } of Array.isArray(body.attachments) ? (body.attachments as JsonObject[]) : [])
    if (account.find('file', String(file_id)) === null) return notFound('file', String(file_id))
  const about = { object: 'thread.message', created_at: created, thread_id: thread.id, status: 'completed' }
  return account.keep(`${thread.id}/message`, { id: call.objects.nextId('msg_'), ...about, metadata: {}, ...body })
}

function change(object: MockObject, { body }: FamilyCall): Given {
  return Object.assign(object, body)
}

function removeMessage(message: MockObject, { account }: FamilyCall, { id }: MockObject): Given {
  account.drop(`${id}/message`, message.id)
  return { id: message.id, object: 'thread.message.deleted', deleted: true }
}

function createRun(thread: MockObject, given: FamilyCall): Given {
  const { account, call, body } = given
  const assistant = account.find('assistant', String(body.assistant_id))
  if (assistant === null) return notFound('assistant', String(body.assistant_id))
  const about = { object: 'thread.run', created_at: created, thread_id: thread.id, assistant_id: assistant.id }
  const run = { id: call.objects.nextId('run_'), ...about, status: 'queued', model: assistant.model, usage: null }
  return follow(account.keep(`${thread.id}/run`, run), given)
}

function submit(run: MockObject, given: FamilyCall): Given {
  return run.status === 'completed' ? new Refusal(400, `Run ${run.id} waits for nothing.`) : follow(run, given)
}

/** As the run goes on, where it is to be streamed. */
function follow(run: MockObject, { body, call, usage }: FamilyCall): Given {
  if (body.stream !== true) return run
  const message = { id: call.objects.nextId('msg_'), object: 'thread.message', thread_id: run.thread_id }
  const delta = (value: string) => ({
    id: message.id,
    object: 'thread.message.delta',
    delta: { content: [{ index: 0, type: 'text', text: { value } }] },
  })
  const details = {
    prompt_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  }
  const used = {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    ...details,
  }
  const events: [string, object][] = [
    ['thread.run.created', run],
    ['thread.run.in_progress', { ...run, status: 'in_progress' }],
    ['thread.message.created', { ...message, content: [] }],
    ...spoken.map((value): [string, object] => ['thread.message.delta', delta(value)]),
    [
      'thread.message.completed',
      { ...message, content: [{ type: 'text', text: { value: spokenText, annotations: [] } }] },
    ],
    ['thread.run.completed', { ...run, status: 'completed', usage: used }],
  ]
  const stream = events.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
  return { stream: [...stream, 'event: done\ndata: [DONE]\n\n'], tokens: true }
}

function stepOf(run: MockObject): MockObject {
  const details = { type: 'message_creation', message_creation: { message_id: 'msg_1' } }
  return {
    id: `step_${run.id}`,
    object: 'thread.run.step',
    created_at: created,
    run_id: run.id,
    thread_id: run.thread_id,
    step_details: details,
  }
}
