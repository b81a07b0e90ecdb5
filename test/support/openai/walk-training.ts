import { expect } from 'vitest'
import { spokenText } from '../mock-format.ts'
import { ids, readAll, textFile, type Walk } from './walk.ts'

export const trainingWalks: readonly Walk[] = [
  {
    family: 'fine-tuning, and the model that it makes',
    async walk(client) {
      const file = await client.files.create({ file: await textFile('train.jsonl', '{}'), purpose: 'fine-tune' })
      const job = await client.fineTuning.jobs.create({ model: 'gpt-4o-mini', training_file: file.id })
      const done = await client.fineTuning.jobs.retrieve(job.id)
      expect(done.status).toBe('succeeded')
      expect((await client.files.retrieve(done.result_files[0] ?? '')).filename).toBe('step_metrics.csv')
      expect(await ids(client.fineTuning.jobs.list({ limit: 1 }))).toContain(job.id)
      expect(await readAll(client.fineTuning.jobs.listEvents(job.id))).toEqual([])
      expect(await readAll(client.fineTuning.jobs.checkpoints.list(job.id))).toEqual([])
      expect((await client.fineTuning.jobs.pause(job.id)).status).toBe('paused')
      expect((await client.fineTuning.jobs.resume(job.id)).status).toBe('queued')
      expect((await client.fineTuning.jobs.cancel(job.id)).status).toBe('cancelled')
      expect((await client.models.delete(done.fine_tuned_model ?? '')).deleted).toBe(true)
    },
  },
  {
    family: 'graders',
    async walk(client) {
      const grader = {
        type: 'string_check' as const,
        name: 'same',
        input: 'a',
        reference: 'a',
        operation: 'eq' as const,
      }
      const run = await client.fineTuning.alpha.graders.run({ grader, model_sample: 'a' })
      expect(run.reward).toBe(1)
      expect((await client.fineTuning.alpha.graders.validate({ grader })).grader).toEqual(grader)
    },
  },
  {
    family: 'evals',
    async walk(client) {
      const criterion = {
        type: 'string_check' as const,
        name: 'same',
        input: 'a',
        reference: 'a',
        operation: 'eq' as const,
      }
      const config = { type: 'custom' as const, item_schema: { type: 'object' } }
      const made = await client.evals.create({ data_source_config: config, testing_criteria: [criterion] })
      expect((await client.evals.retrieve(made.id)).id).toBe(made.id)
      expect((await client.evals.update(made.id, { name: 'better' })).name).toBe('better')
      expect(await ids(client.evals.list({ limit: 1 }))).toContain(made.id)
      const file = await client.files.create({ file: await textFile('items.jsonl', '{}'), purpose: 'evals' })
      const source = { type: 'jsonl' as const, source: { type: 'file_id' as const, id: file.id } }
      const run = await client.evals.runs.create(made.id, { data_source: source })
      const inside = { eval_id: made.id, run_id: run.id }
      expect(await ids(client.evals.runs.list(made.id))).toEqual([run.id])
      expect((await client.evals.runs.retrieve(run.id, inside)).id).toBe(run.id)
      const [item = ''] = await ids(client.evals.runs.outputItems.list(run.id, inside))
      expect((await client.evals.runs.outputItems.retrieve(item ?? '', inside)).run_id).toBe(run.id)
      expect((await client.evals.runs.cancel(run.id, inside)).status).toBe('canceled')
      await client.evals.runs.delete(run.id, inside)
      expect((await client.evals.delete(made.id)).deleted).toBe(true)
    },
  },
  {
    family: 'assistants and threads',
    async walk(client, { chat: model }) {
      const { beta } = client
      const assistant = await beta.assistants.create({ model, name: 'helper' })
      expect((await beta.assistants.retrieve(assistant.id)).name).toBe('helper')
      await beta.assistants.update(assistant.id, { name: 'other' })
      expect(await ids(beta.assistants.list({ limit: 1 }))).toContain(assistant.id)
      const thread = await beta.threads.create({})
      expect((await beta.threads.update(thread.id, { metadata: { a: 'b' } })).metadata).toEqual({ a: 'b' })
      expect((await beta.threads.retrieve(thread.id)).id).toBe(thread.id)
      const inside = { thread_id: thread.id }
      const message = await beta.threads.messages.create(thread.id, { role: 'user', content: 'x' })
      expect((await beta.threads.messages.retrieve(message.id, inside)).id).toBe(message.id)
      await beta.threads.messages.update(message.id, { ...inside, metadata: { c: 'd' } })
      expect(await ids(beta.threads.messages.list(thread.id))).toEqual([message.id])
      const run = await beta.threads.runs.create(thread.id, { assistant_id: assistant.id })
      expect((await beta.threads.runs.retrieve(run.id, inside)).status).toBe('queued')
      await beta.threads.runs.update(run.id, { ...inside, metadata: { e: 'f' } })
      expect(await ids(beta.threads.runs.list(thread.id))).toEqual([run.id])
      const [step = ''] = await ids(beta.threads.runs.steps.list(run.id, inside))
      await beta.threads.runs.steps.retrieve(step ?? '', { ...inside, run_id: run.id })
      const outputs = { ...inside, tool_outputs: [{ output: 'x' }] }
      await beta.threads.runs.submitToolOutputs(run.id, outputs)
      const rest = await readAll(await beta.threads.runs.submitToolOutputs(run.id, { ...outputs, stream: true }))
      expect(rest.at(-1)?.event).toBe('thread.run.completed')
      await beta.threads.runs.cancel(run.id, inside)
      await beta.threads.messages.delete(message.id, inside)
      await beta.threads.delete(thread.id)

      const events = await readAll(await beta.threads.createAndRun({ assistant_id: assistant.id, stream: true }))
      expect(
        events.flatMap((event) => (event.event === 'thread.message.delta' ? event.data.delta.content : [])),
      ).toHaveLength(4)
      const made = events.find(({ event }) => event === 'thread.run.created')
      const id = made?.event === 'thread.run.created' ? made.data.thread_id : ''
      expect((await beta.threads.retrieve(id)).id).toBe(id)
      expect(JSON.stringify(events)).toContain(JSON.stringify(spokenText))
      await beta.assistants.delete(assistant.id)
    },
  },
]
