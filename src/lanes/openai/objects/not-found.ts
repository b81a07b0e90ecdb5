import type { ObjectName, ObjectType } from '../../../core/stored-object.ts'
import type { Match, RenderedError } from '../../contract.ts'

interface Words {
  message: string
  param?: string
  code?: string
  status?: number
}

type Say = (id: string) => Words

/**
 * How the provider says that there is none. Seen in reports of its users: files, vector stores, responses as previous ones, items,
 * fine-tuning jobs, assistants, threads. The others are plausible [K]: in the same words, where nobody has shown the real ones.
 */
const words: Partial<Record<ObjectType, Say>> = {
  assistant: (id) => ({ message: `No assistant found with id '${id}'.` }),
  batch: (id) => ({ message: `No batch found with id '${id}'.` }),
  chat_completion: (id) => ({ message: `Completion ${id} not found` }),
  file: (id) => ({ message: `No such File object: ${id}`, param: 'id' }),
  fine_tuning_job: (id) => ({
    message: `Could not find fine tune: ${id}`,
    param: 'fine_tune_id',
    code: 'fine_tune_not_found',
  }),
  item: (id) => ({
    message: `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    param: 'input',
  }),
  thread: (id) => ({ message: `No thread found with id '${id}'.` }),
  tuned_model: (id) => ({ message: `The model '${id}' does not exist`, param: 'model', code: 'model_not_found' }),
  upload: (id) => ({ message: `No such Upload object: ${id}`, param: 'id' }),
  vector_store: (id) => ({ message: `No vector store found with id '${id}'.` }),
}

const nouns: Partial<Record<ObjectType, string>> = {
  call: 'Call',
  character: 'Character',
  container: 'Container',
  conversation: 'Conversation',
  eval: 'Eval',
  live_session: 'Session',
  prompt: 'Prompt',
  response: 'Response',
  skill: 'Skill',
  video: 'Video',
  voice: 'Voice',
  voice_consent: 'Voice consent',
}

export function notFound(match: Match, { type, id }: ObjectName): RenderedError {
  const { message, param = null, code = null, status = 404 } = say(match, type, id)
  const error = { message, type: 'invalid_request_error', param, code }
  return {
    status,
    headers: [['content-type', 'application/json']],
    body: Buffer.from(JSON.stringify({ error }, null, 2)),
  }
}

function say(match: Match, type: ObjectType, id: string): Words {
  // In the body of another call, a response is the one before it.
  if (type === 'response' && match.object !== id)
    return {
      message: `Previous response with id '${id}' not found.`,
      param: 'previous_response_id',
      code: 'previous_response_not_found',
      status: 400,
    }
  return words[type]?.(id) ?? { message: `${nouns[type] ?? 'Object'} with id '${id}' not found.` }
}
