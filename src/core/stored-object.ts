/**
 * Objects that live at a provider and belong to the project and environment that made them (product.md section 2). Ids are the
 * provider's own; on the Gemini lane resource names (`files/abc`).
 */
export type ObjectType =
  | 'batch'
  | 'cached_content'
  | 'call'
  | 'character'
  | 'chat_completion'
  | 'container'
  | 'conversation'
  | 'eval'
  | 'file'
  | 'file_search_store'
  | 'fine_tuning_job'
  | 'interaction'
  | 'item'
  | 'live_session'
  | 'operation'
  | 'response'
  | 'skill'
  | 'tuned_model'
  | 'upload'
  | 'vector_store'
  | 'video'
  | 'voice'
  | 'voice_consent'

export interface ObjectName {
  type: ObjectType
  id: string
}

/** Who an object belongs to, and where it lives: a follow-up goes to this very credential. */
export interface ObjectOwner {
  projectId: string
  environmentId: string
  /** Of the key that made it. */
  keyId: string
  providerId: string
  /** null: the provider takes no credential. */
  credentialId: string | null
}
