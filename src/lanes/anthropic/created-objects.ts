import { asArray, asObject, asText, type JsonObject } from '../../core/json/json-value.ts'
import type { ObjectName } from '../../core/objects/stored-object.ts'

/** The container in which the provider's own tools ran; a later request may name it. */
export function readContainer(holder: JsonObject | null): ObjectName[] {
  const id = asText(asObject(holder?.container)?.id)
  return id === null ? [] : [{ type: 'container', id }]
}

/**
 * Files that tools created, from the content's blocks. Source: the SDK's types of `…_tool_result` and
 * `container_upload`.
 */
export function readToolFiles(blocks: unknown): ObjectName[] {
  return asArray(blocks).flatMap((value) => {
    const block = asObject(value)
    const type = asText(block?.type) ?? ''
    if (type === 'container_upload') return readFile(block)
    return type.endsWith('_tool_result') ? asArray(asObject(block?.content)?.content).flatMap(readFile) : []
  })
}

function readFile(value: unknown): ObjectName[] {
  const id = asText(asObject(value)?.file_id)
  return id === null ? [] : [{ type: 'file', id }]
}
