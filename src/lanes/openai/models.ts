import type { ListedModel } from '../contract.ts'

function entry(model: ListedModel) {
  return {
    id: model.name,
    object: 'model',
    created: model.created,
    owned_by: model.owner,
    // Not in the vendor's own shape; several compatible servers use these names and clients read them.
    ...(model.contextTokens === null ? {} : { context_window: model.contextTokens }),
    ...(model.outputTokens === null ? {} : { max_completion_tokens: model.outputTokens }),
  }
}

/** This list has no pages (wire/lanes.md, section 1.3). */
export function renderModels(models: readonly ListedModel[]): Buffer {
  return Buffer.from(JSON.stringify({ object: 'list', data: models.map(entry) }))
}

export function renderModel(model: ListedModel): Buffer {
  return Buffer.from(JSON.stringify(entry(model)))
}
