import type { Environment, Key, Policy, Project } from '../../../store/api.ts'
import type { AdminContext } from '../context.ts'
import { invalid, notFound } from '../fault.ts'
import { findEnvironment, findKey, findProject, findScope } from '../find.ts'
import { loadOwners, type Owners } from '../projects/owners.ts'

/** Where policies hold, between words (`environment:default/production`) and ids. */
export interface Attachments {
  projects: Project[]
  environments: Environment[]
  keys: Key[]
  owned: Owners
}

export async function loadAttachments(context: Pick<AdminContext, 'store'>): Promise<Attachments> {
  const { store } = context
  const [projects, environments, keys, owned] = await Promise.all([
    store.projects.list(),
    store.environments.list(null),
    store.keys.list(null, null),
    loadOwners(context),
  ])
  return { projects, environments, keys, owned }
}

export function showAttachments(
  attachedTo: Policy['attachedTo'],
  attachments: Pick<Attachments, 'projects' | 'environments' | 'keys'>,
): string[] {
  const { projects, environments, keys } = attachments
  const words = new Map<string, string>()
  const projectNames = new Map(projects.map(({ id, name }) => [id, name]))
  for (const { id, name } of projects) words.set(id, `project:${name}`)
  for (const { id, name, projectId } of environments)
    words.set(id, `environment:${projectNames.get(projectId) ?? projectId}/${name}`)
  for (const key of keys) words.set(key.id, keyWord(key, attachments))
  return [...(attachedTo.workspace ? ['workspace'] : []), ...attachedTo.ids.map((id) => words.get(id) ?? id)]
}

/** Keys that name the policy themselves; a revoked one holds nothing any more. */
export function showHolders(policyId: string, attachments: Attachments): string[] {
  const holding = attachments.keys.filter((key) => key.policyId === policyId && key.revokedAt === null)
  return holding.map((key) => keyWord(key, attachments))
}

/** A key's name is unique in its environment only: with its scope where other environments have one of the name. */
function keyWord(key: Key, { projects, environments, keys }: Pick<Attachments, 'projects' | 'environments' | 'keys'>) {
  const isAlone = !keys.some(({ id, name, revokedAt }) => name === key.name && id !== key.id && revokedAt === null)
  if (isAlone) return `key:${key.name}`
  const project = projects.find(({ id }) => id === key.projectId)?.name ?? key.projectId
  const environment = environments.find(({ id }) => id === key.environmentId)?.name ?? key.environmentId
  return `key:${project}/${environment}/${key.name}`
}

export async function readAttachments(context: AdminContext, words: string[]): Promise<Policy['attachedTo']> {
  const ids = new Set<string>()
  for (const word of words) if (word !== 'workspace') ids.add(await readAttachment(context, word))
  return { workspace: words.includes('workspace'), ids: [...ids] }
}

async function readAttachment(context: AdminContext, word: string): Promise<string> {
  const colon = word.indexOf(':')
  const [noun, name] = [word.slice(0, Math.max(colon, 0)), word.slice(colon + 1)]
  if (noun === 'project') return (await findProject(context, name)).id
  const [project, environment, ...rest] = name.split('/')
  if (noun === 'key' && environment === undefined) return findKeyAnywhere(context, name)
  if (noun === 'key' && project && environment && rest.length === 1) {
    const scope = await findScope(context, { project, environment })
    return (await findKey(context, rest.join(), scope)).id
  }
  if (noun === 'environment' && project && environment && rest.length === 0)
    return (await findEnvironment(context, await findProject(context, project), environment)).id
  throw invalid(
    `${JSON.stringify(word)} is nothing that a policy can apply to.`,
    'Write workspace, project:P, environment:P/E, key:NAME or key:P/E/NAME.',
  )
}

/** A key's name is unique in its environment only. */
async function findKeyAnywhere({ store }: AdminContext, name: string): Promise<string> {
  const keys = await store.keys.list(null, null)
  const found = keys.filter((key) => key.id === name || (key.name === name && key.revokedAt === null))
  const [first, ...others] = found
  if (first === undefined) throw notFound('key', name, 'List them: spgw keys list --all')
  if (others.length > 0)
    throw invalid(`Several environments have a key ${JSON.stringify(name)}.`, `Write key:P/E/${name}.`)
  return first.id
}
