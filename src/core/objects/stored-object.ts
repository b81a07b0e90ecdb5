/**
 * Objects that live at a provider and belong to the project and environment that made them (product.md section 2). Ids are the
 * provider's own; on the Gemini lane resource names (`files/abc`).
 */
export const objectTypes = [
  'assistant',
  'batch',
  'cached_content',
  'call',
  'character',
  'chat_completion',
  'container',
  'conversation',
  'environment',
  'eval',
  'file',
  'file_search_store',
  'fine_tuning_job',
  'interaction',
  'item',
  'live_session',
  'operation',
  'prompt',
  'response',
  'session_handle',
  'skill',
  'thread',
  'tuned_model',
  'upload',
  'vector_store',
  'video',
  'voice',
  'voice_consent',
] as const
export type ObjectType = (typeof objectTypes)[number]

export interface ObjectName {
  type: ObjectType
  id: string
}

/** Where an object lives: a follow-up goes to this very credential. */
export interface ObjectPlace {
  providerId: string
  /** null: the provider takes no credential. */
  credentialId: string | null
}

/** Who may name an object. */
export interface ObjectScope {
  projectId: string
  environmentId: string
}

/** Who asks the index. */
export interface Asker extends ObjectScope {
  /** The key whose share of look-ups is used. */
  keyId: string
}

/** The owner of an object, and where it is stored. */
export interface ObjectOwner extends ObjectScope, ObjectPlace {
  /** The key that created it. */
  keyId: string
}

/**
 * One row of the index. An id may occur more than once: on the Gemini lane clients choose it, and each account has its
 * own.
 */
export interface StoredObject extends ObjectName, ObjectScope, ObjectPlace {
  /** null: an operator adopted it. */
  keyId: string | null
  requestId: string | null
  /** RFC 3339: of the request that made it, or of the adoption. */
  createdAt: string
  /** Of a file with a batch's results: the batch; null for all else. */
  batchId: string | null
}
