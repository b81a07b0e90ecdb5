import type { ObjectType, StoredObject } from '../../core/objects/stored-object.ts'

export interface ObjectTables {
  objects: {
    /** Newest first. */
    list(filter: ObjectFilter): StoredObject[]
    /** Throws `StoreConflict` where somebody has it already. */
    insert(object: StoredObject): StoredObject
    /** Leaves alone what the provider keeps. */
    remove(object: StoredObject): void
  }
}

export interface ObjectFilter {
  /** Ids: of these projects only. */
  projects?: string[]
  environmentIds?: string[]
  providerId?: string
  type?: ObjectType
  id?: string
  limit: number
}
