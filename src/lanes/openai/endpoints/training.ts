import type { Endpoint } from '../../contract.ts'
import { creates, deletes, json, lists, uses } from '../../endpoint-row.ts'
import { runLimits } from '../inspection.ts'
import { rejectWideSource } from '../objects/batch-call.ts'
import { createdEval, createdThread } from '../objects/created-objects.ts'
import {
  endedEvalRun,
  endedEvalRuns,
  endedThreadRun,
  endedThreadRuns,
  startedEvalRun,
  startedThreadRun,
} from '../objects/ended.ts'
import { askedByEvalRun, askedByGrader, inspectCriteria, inspectNested, places } from '../objects/nested-models.ts'
import { readGraded, readRun, readThreadAndRun } from '../readers.ts'
import { row } from './row.ts'

const thread = uses('thread')
const ended = { reportsUsage: 'end', endedWork: endedThreadRun } as const
const endedRun = { reportsUsage: 'end', endedWork: endedEvalRun } as const

/** Assistants: the vendor's former way to keep state, which its SDKs still have. Source: wire/lanes.md, section 1.3. */
export const assistants: readonly Endpoint[] = [
  row('assistants.create', 'POST /assistants', {
    billed: false,
    model: 'body',
    requestForms: json,
    object: creates('assistant'),
  }),
  row('assistants.list', 'GET /assistants', { object: lists('assistant') }),
  row('assistants.get', 'GET /assistants/{object}', { object: uses('assistant') }),
  row('assistants.update', 'POST /assistants/{object}', {
    billed: false,
    model: 'body-optional',
    requestForms: json,
    object: uses('assistant'),
  }),
  row('assistants.delete', 'DELETE /assistants/{object}', { object: deletes('assistant') }),

  row('threads.create', 'POST /threads', { requestForms: json, object: creates('thread') }),
  row('threads.run', 'POST /threads/runs', {
    billed: false,
    model: 'body-optional',
    requestForms: json,
    stream: 'sse',
    object: creates('thread'),
    outputLimits: runLimits,
    reader: readThreadAndRun,
    startedWork: startedThreadRun,
    createdObjects: createdThread,
  }),
  row('threads.get', 'GET /threads/{object}', { object: thread }),
  row('threads.update', 'POST /threads/{object}', { requestForms: json, object: thread }),
  row('threads.delete', 'DELETE /threads/{object}', { object: deletes('thread') }),
  row('threads.messages.create', 'POST /threads/{object}/messages', { requestForms: json, object: thread }),
  row('threads.messages.list', 'GET /threads/{object}/messages', { object: thread }),
  row('threads.messages.get', 'GET /threads/{object}/messages/{message}', { object: thread }),
  row('threads.messages.update', 'POST /threads/{object}/messages/{message}', { requestForms: json, object: thread }),
  row('threads.messages.delete', 'DELETE /threads/{object}/messages/{message}', { object: thread }),
  row('threads.runs.create', 'POST /threads/{object}/runs', {
    billed: false,
    model: 'body-optional',
    requestForms: json,
    stream: 'sse',
    object: thread,
    outputLimits: runLimits,
    reader: readRun,
    startedWork: startedThreadRun,
  }),
  row('threads.runs.list', 'GET /threads/{object}/runs', {
    object: thread,
    reportsUsage: 'end',
    endedWork: endedThreadRuns,
  }),
  row('threads.runs.get', 'GET /threads/{object}/runs/{run}', { object: thread, ...ended }),
  row('threads.runs.update', 'POST /threads/{object}/runs/{run}', { requestForms: json, object: thread }),
  row('threads.runs.cancel', 'POST /threads/{object}/runs/{run}/cancel', { object: thread, ...ended }),
  row('threads.runs.submit', 'POST /threads/{object}/runs/{run}/submit_tool_outputs', {
    requestForms: json,
    stream: 'sse',
    object: thread,
    reader: readRun,
    startedWork: startedThreadRun,
  }),
  row('threads.runs.steps', 'GET /threads/{object}/runs/{run}/steps', { object: thread }),
  row('threads.runs.step', 'GET /threads/{object}/runs/{run}/steps/{step}', { object: thread }),
]

/** Fine-tuning, graders and evals. Source: wire/lanes.md, section 1.3. */
export const training: readonly Endpoint[] = [
  row('fine_tuning.create', 'POST /fine_tuning/jobs', {
    model: 'body',
    requestForms: json,
    object: creates('fine_tuning_job'),
    inspect: inspectNested(places.tuning),
  }),
  row('fine_tuning.list', 'GET /fine_tuning/jobs', { object: lists('fine_tuning_job') }),
  row('fine_tuning.get', 'GET /fine_tuning/jobs/{object}', { object: uses('fine_tuning_job') }),
  row('fine_tuning.cancel', 'POST /fine_tuning/jobs/{object}/cancel', { object: uses('fine_tuning_job') }),
  row('fine_tuning.pause', 'POST /fine_tuning/jobs/{object}/pause', { object: uses('fine_tuning_job') }),
  row('fine_tuning.resume', 'POST /fine_tuning/jobs/{object}/resume', { object: uses('fine_tuning_job') }),
  row('fine_tuning.events', 'GET /fine_tuning/jobs/{object}/events', { object: uses('fine_tuning_job') }),
  row('fine_tuning.checkpoints', 'GET /fine_tuning/jobs/{object}/checkpoints', { object: uses('fine_tuning_job') }),
  row('graders.run', 'POST /fine_tuning/alpha/graders/run', {
    billed: true,
    model: 'body-optional',
    requestForms: json,
    inspect: inspectNested(places.grader),
    batchAsks: askedByGrader,
    reader: readGraded,
  }),
  row('graders.validate', 'POST /fine_tuning/alpha/graders/validate', { requestForms: json }),
  row('models.delete', 'DELETE /models/{object}', { object: deletes('tuned_model') }),

  row('evals.create', 'POST /evals', {
    billed: false,
    model: 'body-optional',
    requestForms: json,
    object: creates('eval'),
    inspect: inspectCriteria,
    createdObjects: createdEval,
  }),
  row('evals.list', 'GET /evals', { object: lists('eval') }),
  row('evals.get', 'GET /evals/{object}', { object: uses('eval') }),
  row('evals.update', 'POST /evals/{object}', { requestForms: json, object: uses('eval') }),
  row('evals.delete', 'DELETE /evals/{object}', { object: deletes('eval') }),
  row('evals.runs.create', 'POST /evals/{object}/runs', {
    billed: false,
    model: 'body-optional',
    requestForms: json,
    object: uses('eval'),
    inspect: inspectNested(places.run, { validate: rejectWideSource }),
    batchAsks: askedByEvalRun,
    startedWork: startedEvalRun,
  }),
  row('evals.runs.list', 'GET /evals/{object}/runs', {
    object: uses('eval'),
    reportsUsage: 'end',
    endedWork: endedEvalRuns,
  }),
  row('evals.runs.get', 'GET /evals/{object}/runs/{run}', { object: uses('eval'), ...endedRun }),
  // The current SDK cancels below `/cancel`, the one before it with a bare POST.
  row('evals.runs.cancel', 'POST /evals/{object}/runs/{run}/cancel', { object: uses('eval'), ...endedRun }),
  row('evals.runs.cancel', 'POST /evals/{object}/runs/{run}', { object: uses('eval'), ...endedRun }),
  row('evals.runs.delete', 'DELETE /evals/{object}/runs/{run}', { object: uses('eval') }),
  row('evals.runs.items', 'GET /evals/{object}/runs/{run}/output_items', { object: uses('eval') }),
  row('evals.runs.item', 'GET /evals/{object}/runs/{run}/output_items/{item}', { object: uses('eval') }),
]
