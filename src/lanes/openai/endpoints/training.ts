import type { Endpoint } from '../../contract.ts'
import { forgets, json, lists, makes, row, uses } from '../../endpoint-row.ts'

/** Fine-tuning, graders and evals. Source: wire/lanes.md, section 1.3. */
export const training: readonly Endpoint[] = [
  row('fine_tuning.create', 'POST /fine_tuning/jobs', {
    model: 'body',
    takes: json,
    object: makes('fine_tuning_job'),
  }),
  row('fine_tuning.list', 'GET /fine_tuning/jobs', { object: lists('fine_tuning_job') }),
  row('fine_tuning.get', 'GET /fine_tuning/jobs/{object}', { object: uses('fine_tuning_job') }),
  row('fine_tuning.cancel', 'POST /fine_tuning/jobs/{object}/cancel', { object: uses('fine_tuning_job') }),
  row('fine_tuning.pause', 'POST /fine_tuning/jobs/{object}/pause', { object: uses('fine_tuning_job') }),
  row('fine_tuning.resume', 'POST /fine_tuning/jobs/{object}/resume', { object: uses('fine_tuning_job') }),
  row('fine_tuning.events', 'GET /fine_tuning/jobs/{object}/events', { object: uses('fine_tuning_job') }),
  row('fine_tuning.checkpoints', 'GET /fine_tuning/jobs/{object}/checkpoints', { object: uses('fine_tuning_job') }),
  row('graders.run', 'POST /fine_tuning/alpha/graders/run', { takes: json }),
  row('graders.validate', 'POST /fine_tuning/alpha/graders/validate', { takes: json }),
  row('models.delete', 'DELETE /models/{object}', { object: forgets('tuned_model') }),

  row('evals.create', 'POST /evals', { takes: json, object: makes('eval') }),
  row('evals.list', 'GET /evals', { object: lists('eval') }),
  row('evals.get', 'GET /evals/{object}', { object: uses('eval') }),
  row('evals.update', 'POST /evals/{object}', { takes: json, object: uses('eval') }),
  row('evals.delete', 'DELETE /evals/{object}', { object: forgets('eval') }),
  row('evals.runs.create', 'POST /evals/{object}/runs', { takes: json, object: uses('eval') }),
  row('evals.runs.list', 'GET /evals/{object}/runs', { object: uses('eval'), brings: 'end' }),
  row('evals.runs.get', 'GET /evals/{object}/runs/{run}', { object: uses('eval'), brings: 'end' }),
  // The current SDK cancels below `/cancel`, the one before it with a bare POST.
  row('evals.runs.cancel', 'POST /evals/{object}/runs/{run}/cancel', { object: uses('eval') }),
  row('evals.runs.cancel', 'POST /evals/{object}/runs/{run}', { object: uses('eval') }),
  row('evals.runs.delete', 'DELETE /evals/{object}/runs/{run}', { object: uses('eval') }),
  row('evals.runs.items', 'GET /evals/{object}/runs/{run}/output_items', { object: uses('eval') }),
  row('evals.runs.item', 'GET /evals/{object}/runs/{run}/output_items/{item}', { object: uses('eval') }),
]
