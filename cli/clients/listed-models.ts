import { askLane } from '../../src/admin/client-lane.ts'
import { escapeControls, valueAt } from '../../src/admin/contract/show-value.ts'
import type { LaneName } from '../../src/core/lane.ts'
import { CommandFault, exitStatus } from '../fault.ts'
import type { UsableModel } from './clients.ts'

const mostModels = 1000

/** By lane: where its models are listed, and what its list calls what is needed of each. */
const lists: Readonly<Record<LaneName, { path: string; of: string; name: string; context: string; output: string }>> = {
  openai: { path: '/v1/models', of: 'data', name: 'id', context: 'context_window', output: 'max_completion_tokens' },
  anthropic: {
    path: `/v1/anthropic/v1/models?limit=${mostModels}`,
    ...{ of: 'data', name: 'id', context: 'max_input_tokens', output: 'max_tokens' },
  },
  gemini: {
    path: `/v1/gemini/v1beta/models?pageSize=${mostModels}`,
    ...{ of: 'models', name: 'name', context: 'inputTokenLimit', output: 'outputTokenLimit' },
  },
}

/**
 * The models that the key may use, as the lane itself lists them: for whoever has a key and the gateway's address, and nothing else.
 * null: it cannot be reached from here, which does not mean that the client cannot.
 */
export async function readListedModels(gatewayUrl: string, lane: LaneName, key: string): Promise<UsableModel[] | null> {
  const { path, of } = lists[lane]
  const answer = await askLane(gatewayUrl + path, key)
  if (answer === null) return null
  const { status, isGateway, body } = answer
  const listed = valueAt(body, of)
  if (status === 200 && Array.isArray(listed)) return listed.map((entry) => readModel(entry, lane))
  if (isGateway) throw refusalOf(body, status)
  throw new CommandFault(
    `${gatewayUrl} does not answer as a gateway: ${status} at ${path.split('?')[0]}.`,
    'Give the URL that requests go to, such as http://127.0.0.1:8787.',
  )
}

/** Whether a route takes a model that the list does not have. */
export async function takesModel(gatewayUrl: string, lane: LaneName, key: string, model: string): Promise<boolean> {
  const [path] = lists[lane].path.split('?')
  const answer = await askLane(`${gatewayUrl}${path}/${encodeURIComponent(model)}`, key)
  return answer?.status === 200
}

function readModel(entry: unknown, lane: LaneName): UsableModel {
  const { name, context, output } = lists[lane]
  const count = (field: string) => {
    const value = valueAt(entry, field)
    return typeof value === 'number' ? value : null
  }
  const model = String(valueAt(entry, name)).replace(/^models\//, '')
  return { model, context_tokens: count(context), output_tokens: count(output) }
}

function refusalOf(body: unknown, status: number): CommandFault {
  const said = valueAt(body, 'error.message')
  const cause = typeof said === 'string' ? escapeControls(said) : `The gateway refused the key with ${status}.`
  return new CommandFault(cause, 'Nothing was written.', exitStatus.refused)
}
