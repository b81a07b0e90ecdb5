import type { LaneName } from '../../src/core/lane.ts'
import { closestName } from '../../src/core/text/closest-names.ts'
import { CommandFault, exitStatus, usageFault } from '../fault.ts'
import type { GatewayClient } from '../operation.ts'
import type { Client, UsableModel } from './clients.ts'

export interface KeyPlace {
  project: string | null
  environment: string | null
  /** null: a key that is still to be made there. */
  secret: string | null
}

/**
 * What the lane's model list shows for the key, as the gateway says itself. `model`: the one that is wanted, which a route may take
 * without a list: some providers have none, or none was read yet.
 */
export async function listUsableModels(
  gateway: GatewayClient,
  lane: LaneName,
  place: KeyPlace,
  model: string | null,
): Promise<UsableModel[]> {
  const key = place.secret === null ? place : await findKey(gateway, place.secret)
  const { project, environment } = key
  const input = {
    lane,
    ...('id' in key ? { key: key.id } : {}),
    ...(project === null ? {} : { project }),
    ...(environment === null ? {} : { environment }),
  }
  const listed = (await gateway.call(['keys', 'models'], input)) as UsableModel[]
  const names = listed.map((one) => one.model)
  if (model === null || names.includes(model)) return listed
  const { taken } = (await gateway.call(['routes', 'explain'], { ...input, model })) as { taken: unknown[] }
  return taken.length === 0 ? listed : [...listed, unlistedModel(model)]
}

/** A model that a route takes, though no list has it. */
export function unlistedModel(model: string): UsableModel {
  return { model, context_tokens: null, output_tokens: null, unlisted: true }
}

interface ShownKey {
  id: string
  last_four: string
  state: string
  project: string
  environment: string
}

/** By its last four, wherever it belongs. */
async function findKey(gateway: GatewayClient, secret: string): Promise<ShownKey> {
  const keys = (await gateway.call(['keys', 'list'], { all: true })) as ShownKey[]
  const same = keys.filter(({ last_four }) => secret.endsWith(last_four))
  const found = same.find(({ state }) => state === 'active') ?? same[0]
  if (found?.state === 'active') return found
  const why = found === undefined ? 'This gateway does not know the key' : `The key is ${found.state}`
  throw new CommandFault(
    `${why} that ends in ${secret.slice(-4)}.`,
    'Create one with --create-key NAME.',
    exitStatus.refused,
  )
}

/** The models that go into the settings of a client, or why there are none. */
export function chooseModels(name: string, client: Client, model: string | null, usable: readonly UsableModel[]): void {
  const names = usable.map((one) => one.model)
  if (names.length === 0 && (model !== null || client.listsModels)) {
    throw new CommandFault(
      `The key can use no model on the ${client.lane} lane.`,
      'Add a route to a provider that serves this lane: spgw routes add MODEL --provider NAME',
    )
  }
  if (model === null && client.needsModel)
    throw usageFault(`${name} needs a model.`, `Use --model with ${some(names)}.`)
  if (model === null || names.includes(model)) return
  const near = closestName(model, names)
  throw usageFault(
    `The key cannot use the model ${model} on the ${client.lane} lane.`,
    near === null ? `Use ${some(names)}.` : `Did you mean ${near}?`,
  )
}

/** What to say of a model that a pattern takes, and that may be misspelt: its name is nearly that of a listed one. null: nothing. */
export function misspeltNote(model: string | null, usable: readonly UsableModel[]): string | null {
  const names = usable.filter(({ unlisted }) => unlisted !== true).map((one) => one.model)
  if (model === null || names.includes(model)) return null
  const near = closestName(model, names)
  return near === null ? null : `Note: a route takes the model ${model}, but no list has it. Did you mean ${near}?`
}

function some(names: readonly string[]): string {
  const rest = names.length > 8 ? ' (spgw keys models lists all)' : ''
  return `one of ${names.slice(0, 8).join(', ')}${rest}`
}
