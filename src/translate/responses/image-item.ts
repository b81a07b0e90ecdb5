import type { JsonObject } from '../../core/json/json-value.ts'
import type { MadeImage } from '../reply.ts'
import type { EmitEvent, ItemPlace } from './message-item.ts'

/** An image that the model made, as the item of OpenAI's own tool for it. */
export function writeImage(
  place: ItemPlace,
  { type, data }: Pick<MadeImage, 'type' | 'data'>,
  emit: EmitEvent,
): JsonObject {
  const { item_id: id, output_index } = place
  const item = { id, type: 'image_generation_call', status: 'in_progress', result: null }
  emit('response.output_item.added', { output_index, item })
  for (const state of ['in_progress', 'generating', 'completed'])
    emit(`response.image_generation_call.${state}`, { ...place })
  const done = { ...item, status: 'completed', result: data, output_format: type.replace('image/', '') }
  emit('response.output_item.done', { output_index, item: done })
  return done
}
