import { asText, type JsonObject } from '../../core/json/json-value.ts'
import { ownValue } from '../../core/own-value.ts'
import type { Conversation } from '../conversation.ts'
import { imageTool } from '../foreign-tool.ts'
import type { Ledger } from '../ledger.ts'

/** OpenAI's sizes. */
const ratios: Readonly<Record<string, string>> = { '1024x1024': '1:1', '1536x1024': '3:2', '1024x1536': '2:3' }

/** What options say that ask for nothing. */
const usual: readonly unknown[] = [null, imageTool, 'auto', 'png', 0, 100]

/** `generationConfig` for OpenAI's tool that makes images: Gemini has models for them instead. */
export function writeImages({ tools, toolChoice }: Conversation, model: string, ledger: Ledger): JsonObject {
  const tool = tools.find(({ kind, name }) => kind === 'hosted' && name === imageTool)
  if (tool?.options === undefined) return {}
  const { path, options } = tool
  if (!/image|banana/.test(model.toLowerCase())) ledger.refuse(`${path}.type`, `the model ${model} makes no images`)
  if (options.input_image_mask) ledger.refuse(`${path}.input_image_mask`, 'it has no masks')
  const { size, ...others } = options
  const aspectRatio = ownValue(ratios, asText(size) ?? '')
  if (aspectRatio === undefined && size !== undefined && size !== 'auto') ledger.lose(`${path}.size`)
  for (const [name, value] of Object.entries(others)) if (!usual.includes(value)) ledger.lose(`${path}.${name}`)
  return {
    responseModalities: toolChoice?.names[0] === imageTool ? ['IMAGE'] : ['TEXT', 'IMAGE'],
    ...(aspectRatio !== undefined && { imageConfig: { aspectRatio } }),
  }
}
