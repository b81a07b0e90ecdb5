import type { Kysely } from 'kysely'
import type { SumTables } from './records/sum-rows.ts'
import type { ReplicaTables } from './replica/replica-rows.ts'

/**
 * The tables as they are stored. Columns called `*_json` hold JSON, flags are 0 or 1, times RFC 3339 UTC text:
 * forms that every engine has.
 */
export interface Schema extends ReplicaTables, SumTables {
  workspace: { id: string; name: string; created_at: string; time_zone: string }
  projects: { id: string; name: string; created_at: string }
  environments: { id: string; project_id: string; name: string; created_at: string }
  environment_default_providers: { environment_id: string; lane: string; provider_id: string }
  providers: ProviderRow
  provider_projects: { provider_id: string; project_id: string }
  provider_revisions: ProviderRevisionRow
  provider_credentials: ProviderCredentialRow
  routes: RouteRow
  route_targets: RouteTargetRow
  policies: PolicyRow
  policy_attachments: { policy_id: string; target_id: string }
  keys: KeyRow
  key_secrets: KeySecretRow
  removed_key_hashes: { hash: string; version: number }
  key_version: { version: number }
  prices: { model: string; provider_id: string; price_json: string }
  /** One row. `table_json`: what replaced the price table that shipped. */
  price_state: { revision: number; table_json: string | null }
  spend: { counter: string; period: string; amount: number }
  /** Of batches, until it is known what they used. */
  batch_holds: {
    batch_id: string
    provider_id: string
    credential_id: string
    created_at: string
    ended_at: string | null
    held_json: string
  }
  /** Of admitted requests, until they settle. */
  open_holds: { record_id: string; hold_json: string; tokens_json: string | null }
  audit: AuditRow
  /** Fields that a configuration file decides. */
  owned_fields: { resource_id: string; field: string; owner: string }
  seal: { name: string; sealed: string }
  operators: OperatorRow
  /** `project_id` null: for the whole workspace. */
  operator_roles: { operator_id: string; project_id: string | null; role: string }
  sessions: SessionRow
  sign_in_links: SignInLinkRow
  passkeys: PasskeyRow
  api_tokens: ApiTokenRow
  alerts: AlertRow
  /** What an alert has reported and does not report again. */
  alert_crossings: { alert_id: string; crossing: string; time: string }
  alert_deliveries: AlertDeliveryRow
  /** Records that wait to be exported, oldest first. */
  pending_traces: { sequence: number; record_id: string }
  cached_answers: CachedAnswerRow
  /** One row: of all of these together. */
  cache_size: { answers: number; bytes: number }
  objects: ObjectRow
  project_names: ProjectNameRow
  records: RecordRow
  record_labels: RecordLabelsRow
  /** In which periods (`label-periods.ts`) there may be records of a label. */
  label_periods: { label: number; period: string }
  /** What was found of a provider, as it changed. */
  provider_states: { provider_id: string; time: string; state: string; reason: string | null }
  bodies: BodyRow
  /** One row. */
  removal_clock: { id: number; seen: number; held: number }
  repeated_records: { id: string; count: number; last_time: string }
  /** How far each journal segment is in the store. Written in the transaction that brought its entries in. */
  journal_segments: { name: string; bytes_read: number }
}

export interface ProviderRow {
  id: string
  name: string
  kind: string
  active: number
  /** 1: only the projects of `provider_projects` may use it. */
  limited: number
  tags_json: string
  active_revision: number
  readiness_json: string
  models_json: string
  created_at: string
  limits_json: string
}

export interface ProviderRevisionRow {
  provider_id: string
  number: number
  base_url: string
  headers_json: string
  timeouts_json: string
  settings_json: string
  created_at: string
  created_by: string
}

export interface ProviderCredentialRow {
  provider_id: string
  revision: number
  position: number
  id: string
  sealed: string
  last_four: string
  added_at: string
}

export interface RouteRow {
  id: string
  project_id: string
  environment_id: string | null
  model: string
  enabled: number
  strategy: string
  retries: number
  fallback_on_json: string
  timeouts_json: string
  strict: number
  options_json: string
  created_at: string
}

export interface RouteTargetRow {
  route_id: string
  position: number
  provider_id: string
  upstream_model: string | null
  weight: number
  priority: number
  format: string | null
}

export interface PolicyRow {
  id: string
  name: string
  workspace: number
  /** All of the policy's rules: a new one needs no new column. */
  rules_json: string
  created_at: string
}

export interface KeyRow {
  id: string
  name: string
  project_id: string
  environment_id: string
  policy_id: string | null
  tags_json: string
  created_at: string
  created_by: string
  expires_at: string | null
  revoked_at: string | null
  last_used_at: string | null
  /** The version of the key set at its last change. */
  version: number
}

export interface KeySecretRow {
  key_id: string
  position: number
  hash: string
  last_four: string
  expires_at: string | null
}

export interface AuditRow {
  sequence: number
  id: string
  time: string
  actor: string
  surface: string
  operation: string
  resource_kind: string
  resource_id: string
  resource_name: string
  before_json: string
  after_json: string
  previous_hash: string
  hash: string
  /** Of what the hash covers (`audit-chain.ts`). */
  form: number
  actor_id: string | null
  address: string | null
  project_id: string | null
}

export interface OperatorRow {
  id: string
  name: string
  display_name: string
  state: string
  password_hash: string | null
  totp_sealed: string | null
  /** The latest time step whose code was used. */
  totp_step: number | null
  oidc_issuer: string | null
  oidc_subject: string | null
  created_at: string
  last_sign_in_at: string | null
}

export interface SessionRow {
  token_sha256: string
  id: string
  operator_id: string
  method: string
  created_at: string
  last_seen_at: string
  expires_at: string
  address: string
  user_agent: string
  revoked_at: string | null
}

interface SignInLinkRow {
  token_sha256: string
  operator_id: string | null
  created_at: string
  expires_at: string
  used_at: string | null
}

export interface PasskeyRow {
  id: string
  operator_id: string
  credential_id: string
  public_key: string
  counter: number
  transports_json: string
  name: string
  created_at: string
  last_used_at: string | null
}

export interface ApiTokenRow {
  id: string
  name: string
  token_sha256: string
  last_four: string
  role: string
  project_id: string | null
  created_by: string
  created_at: string
  expires_at: string | null
  last_used_at: string | null
  revoked_at: string | null
}

export interface AlertRow {
  id: string
  name: string
  shown_url: string
  format: string
  events_json: string
  active: number
  sealed: string
  created_at: string
}

export interface AlertDeliveryRow {
  id: string
  alert_id: string
  type: string
  message_json: string
  state: string
  tries: number
  created_at: string
  next_at: string | null
  ended_at: string | null
  status: number | null
  reason: string | null
}

/** Of an object that lives at a provider: whose it is. */
export interface ObjectRow {
  type: string
  id: string
  provider_id: string
  /** '': the provider takes none. */
  credential_id: string
  project_id: string
  environment_id: string
  /** Both null: an operator adopted it. */
  key_id: string | null
  request_id: string | null
  created_at: string
  /** Of a file: the batch that wrote it. */
  batch_id: string | null
}

/** A name that a project has or had; kept by triggers of `projects`. */
export interface ProjectNameRow {
  name: string
  /** null: nobody knows. */
  project_id: string | null
  /** '': from the beginning. */
  since: string
  until: string | null
}

export interface RecordRow {
  id: string
  /** Boot and thread that wrote it. */
  boot: string
  state: string
  time: string
  /** Of `record_labels`. */
  label: number
  status: number | null
  error_code: string | null
  input: number | null
  output: number | null
  cache_read: number | null
  cache_write: number | null
  reasoning: number | null
  usd: number | null
  duration_ms: number | null
  record_json: string
  first_byte_ms: number | null
  /** Figures of the attempts; null: one, which was answered. */
  attempts_json: string | null
}

/** A body that a policy had kept; of each request one a part. */
export interface BodyRow {
  id: string
  part: string
  mode: string
  type: string | null
  bytes: number
  truncated: number
  masked: number
  key_id: string
  sealed: Uint8Array
  /** Epoch milliseconds: policies keep it until then; null: as long as the settings say. */
  until: number | null
}

/** An answer that its route gives again. */
export interface CachedAnswerRow {
  number: number
  key: string
  route_id: string
  /** Epoch milliseconds. */
  expires_at: number
  key_id: string
  bytes: number
  sealed: Uint8Array
}

/** A combination that thousands of records have in common. Removed some time after the last of them. */
export interface RecordLabelsRow {
  number: number
  lane: string | null
  project: string | null
  environment: string | null
  key_id: string | null
  key_name: string | null
  provider: string | null
  model: string | null
  /** 1: of copies for shadow targets, which are no requests of a client. */
  shadow: 0 | 1
}

/** A database or a transaction in it. */
export type Database = Kysely<Schema>
