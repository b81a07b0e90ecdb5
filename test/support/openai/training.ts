import type { JsonObject } from '../mock-format.ts'
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
  remove,
  show,
  update,
  withInner,
  withOne,
} from './family.ts'
import { keepFile } from './files.ts'

/** Fine-tuning, graders, evals, decisions. */
export const training: readonly FamilyRow[] = [
  on('POST /fine_tuning/jobs', createJob, 'json', 'model', 'training_file'),
  on('GET /fine_tuning/jobs', list('fine_tuning_job')),
  on('GET /fine_tuning/jobs/{id}', withOne('fine_tuning_job', finishJob)),
  on('POST /fine_tuning/jobs/{id}/cancel', withOne('fine_tuning_job', state('cancelled'))),
  on('POST /fine_tuning/jobs/{id}/pause', withOne('fine_tuning_job', state('paused'))),
  on('POST /fine_tuning/jobs/{id}/resume', withOne('fine_tuning_job', state('queued'))),
  on(
    'GET /fine_tuning/jobs/{id}/events',
    withOne('fine_tuning_job', (_job, { call }) => page([], call.query)),
  ),
  on(
    'GET /fine_tuning/jobs/{id}/checkpoints',
    withOne('fine_tuning_job', (_job, { call }) => page([], call.query)),
  ),
  on(
    'POST /fine_tuning/alpha/graders/run',
    () => ({ reward: 1, metadata: {}, sub_rewards: {} }),
    'json',
    'grader',
    'model_sample',
  ),
  on('POST /fine_tuning/alpha/graders/validate', ({ body }) => ({ grader: body.grader }), 'json', 'grader'),
  on('DELETE /models/{id}', remove('model', 'model')),

  on('POST /evals', createEval, 'json', 'data_source_config', 'testing_criteria'),
  on('GET /evals', list('eval')),
  on('GET /evals/{id}', withOne('eval', show)),
  on('POST /evals/{id}', update('eval'), 'json'),
  on('DELETE /evals/{id}', withOne('eval', removeEval)),
  on('POST /evals/{id}/runs', withOne('eval', createRun), 'json', 'data_source'),
  on(
    'GET /evals/{id}/runs',
    withOne('eval', ({ id }, { account, call }) => page(account.all(`${id}/run`), call.query)),
  ),
  on('GET /evals/{id}/runs/{run}', withInner('eval', 'run', show)),
  on('POST /evals/{id}/runs/{run}', withInner('eval', 'run', state('canceled'))),
  on('POST /evals/{id}/runs/{run}/cancel', withInner('eval', 'run', state('canceled'))),
  on(
    'DELETE /evals/{id}/runs/{run}',
    withInner('eval', 'run', (run, { account }, { id }) => {
      account.drop(`${id}/run`, run.id)
      return { object: 'eval.run.deleted', deleted: true, run_id: run.id }
    }),
  ),
  on(
    'GET /evals/{id}/runs/{run}/output_items',
    withInner('eval', 'run', (run, { call }) => page([itemOf(run)], call.query)),
  ),
  on('GET /evals/{id}/runs/{run}/output_items/{item}', withInner('eval', 'run', itemOf)),

  on('POST /decisions', decide, 'json', 'model', 'input', 'questions'),
]

function state(status: string): (object: MockObject) => Given {
  return (object) => Object.assign(object, { status })
}

function createJob(given: FamilyCall): Given {
  const { account, body } = given
  for (const id of [body.training_file, body.validation_file])
    if (typeof id === 'string' && account.find('file', id) === null) return notFound('file', id)
  const about = {
    object: 'fine_tuning.job',
    created_at: created,
    status: 'validating_files',
    fine_tuned_model: null,
    result_files: [],
  }
  return make('fine_tuning_job', 'ftjob-', () => ({
    ...about,
    validation_file: null,
    ...body,
    hyperparameters: {},
    seed: 1,
  }))(given)
}

/** It has succeeded when it is looked at for the first time. */
function finishJob(job: MockObject, given: FamilyCall): Given {
  if (job.status !== 'validating_files') return job
  const result = keepFile(given, 'step_metrics.csv', 'fine-tune-results', Buffer.from('step,loss\n1,0.5\n'))
  const name = `ft:${String(job.model)}:mock::${job.id.slice(-6)}`
  given.account.keep('model', { id: name, object: 'model', created, owned_by: 'mock' })
  return Object.assign(job, { status: 'succeeded', fine_tuned_model: name, result_files: [result.id] })
}

function createEval(given: FamilyCall): Given {
  return make('eval', 'eval_', ({ body }) => ({
    object: 'eval',
    created_at: created,
    metadata: {},
    name: null,
    ...body,
  }))(given)
}

function removeEval({ id }: MockObject, { account }: FamilyCall): Given {
  account.drop('eval', id)
  return { object: 'eval.deleted', deleted: true, eval_id: id }
}

function createRun(parent: MockObject, { account, call, body }: FamilyCall): Given {
  const file = /"type":"file_id","id":"([^"]+)"|"id":"([^"]+)","type":"file_id"/.exec(JSON.stringify(body))
  const id = file?.[1] ?? file?.[2]
  if (id !== undefined && account.find('file', id) === null) return notFound('file', id)
  const counts = { total: 1, passed: 1, failed: 0, errored: 0 }
  const run = {
    id: call.objects.nextId('evalrun_'),
    object: 'eval.run',
    created_at: created,
    eval_id: parent.id,
    status: 'queued',
  }
  return account.keep(`${parent.id}/run`, { ...run, ...body, model: 'mock', report_url: '', result_counts: counts })
}

function itemOf(run: MockObject): MockObject {
  const about = { object: 'eval.run.output_item', created_at: created, run_id: run.id, eval_id: run.eval_id }
  return {
    id: `outputitem_${run.id}`,
    ...about,
    status: 'pass',
    datasource_item_id: 0,
    datasource_item: {},
    results: [],
    sample: {},
  }
}

function decide({ body, usage }: FamilyCall): Given {
  const questions = Array.isArray(body.questions) ? (body.questions as JsonObject[]) : []
  const answers = questions.map(({ name = null }) => ({ type: 'predicate', name, probability: 0.75 }))
  const input_tokens_details = { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite }
  const output_tokens_details = { reasoning_tokens: usage.reasoning }
  const used = { input_tokens: usage.input, input_tokens_details, output_tokens: usage.output, output_tokens_details }
  return { model: body.model, answers, usage: { ...used, total_tokens: usage.input + usage.output } }
}
