import type { ListedModel } from '../contract.ts'
import { readPageSize, readQuery } from '../query.ts'
import { resourceName } from './endpoints.ts'

function entry(model: ListedModel) {
  return {
    name: resourceName(model.name),
    displayName: model.name,
    ...(model.contextTokens === null ? {} : { inputTokenLimit: model.contextTokens }),
    ...(model.outputTokens === null ? {} : { outputTokenLimit: model.outputTokens }),
    supportedGenerationMethods: supportedMethods(model.name),
  }
}

/** Clients filter their menus by this member, so it must not be missing; only the name tells the two families apart. */
function supportedMethods(name: string): string[] {
  return name.includes('embed')
    ? ['embedContent', 'batchEmbedContents', 'countTokens']
    : ['generateContent', 'streamGenerateContent', 'countTokens']
}

/** Pages by `pageSize`, `pageToken` (both spellings). Source: wire/lanes.md, section 3.5. An unknown token starts anew. */
export function renderModels(models: readonly ListedModel[], query: string): Buffer {
  const parameters = readQuery(query)
  const size = readPageSize(parameters.get('pageSize') ?? parameters.get('page_size'), 50, 1000)
  const last = parameters.get('pageToken') ?? parameters.get('page_token')
  const first = last === null ? 0 : models.findIndex((model) => pageToken(model) === last) + 1
  const page = models.slice(first, first + size)
  const end = page.at(-1)
  const more = end !== undefined && first + page.length < models.length
  return Buffer.from(JSON.stringify({ models: page.map(entry), ...(more ? { nextPageToken: pageToken(end) } : {}) }))
}

/** The page's last model, so that a list that changes in between neither repeats nor skips. */
function pageToken(model: ListedModel): string {
  return Buffer.from(model.name).toString('base64url')
}

export function renderModel(model: ListedModel): Buffer {
  return Buffer.from(JSON.stringify(entry(model)))
}
