import { asArray, asObject, type JsonObject } from '../../core/json/json-value.ts'

export function objectsIn(list: unknown): JsonObject[] {
  return asArray(list).flatMap((each): JsonObject[] => {
    const object = asObject(each)
    return object === null ? [] : [object]
  })
}
