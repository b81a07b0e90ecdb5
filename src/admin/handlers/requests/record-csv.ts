import type { RequestRecord } from '../../../core/record.ts'
import { csvLine } from '../../../core/text/csv.ts'

type Value = string | number | boolean | null

/** The columns of a table of records: their names and order do not change once released; new ones come last. */
const columns: [name: string, read: (record: RequestRecord) => Value][] = [
  ['id', ({ id }) => id],
  ['time', ({ time }) => time],
  ['state', ({ state }) => state],
  ['lane', ({ lane }) => lane],
  ['operation', ({ operation }) => operation],
  ['project', ({ project }) => project],
  ['environment', ({ environment }) => environment],
  ['key_id', ({ key }) => key?.id ?? null],
  ['key_name', ({ key }) => key?.name ?? null],
  ['model', ({ model }) => model],
  ['route', ({ route }) => route],
  ['provider', ({ provider }) => provider],
  ['upstream_model', ({ upstream_model }) => upstream_model],
  ['status', ({ status }) => status],
  ['error_code', ({ error }) => error?.code ?? null],
  ['error_origin', ({ error }) => error?.origin ?? null],
  ['error_message', ({ error }) => error?.message ?? null],
  ['streamed', ({ streamed }) => streamed],
  ['input_tokens', ({ tokens }) => tokens?.input ?? null],
  ['output_tokens', ({ tokens }) => tokens?.output ?? null],
  ['cache_read_tokens', ({ tokens }) => tokens?.cache_read ?? null],
  ['cache_write_tokens', ({ tokens }) => tokens?.cache_write ?? null],
  ['reasoning_tokens', ({ tokens }) => tokens?.reasoning ?? null],
  ['token_source', ({ tokens }) => tokens?.source ?? null],
  ['usd', ({ cost }) => cost?.usd ?? null],
  ['price_version', ({ cost }) => cost?.price_version ?? null],
  ['duration_ms', ({ duration_ms }) => duration_ms],
  ['first_byte_ms', ({ first_byte_ms }) => first_byte_ms],
  ['attempts', ({ attempts }) => attempts.length],
  ['request_bytes', ({ request_bytes }) => request_bytes],
  ['response_bytes', ({ response_bytes }) => response_bytes],
  ['client_address', ({ client }) => client.address],
  ['client_user_agent', ({ client }) => client.user_agent],
  ['provider_request_id', ({ provider_request_id }) => provider_request_id],
  ['tags', ({ tags }) => JSON.stringify(tags)],
  ['method', ({ method }) => method],
  ['path', ({ path }) => path],
  ['usage_detail', ({ usage_detail }) => usage_detail && JSON.stringify(usage_detail)],
  ['estimate_error', ({ estimate_error }) => estimate_error],
  ['shadow_of', ({ shadow_of }) => shadow_of],
  ['trace_id', ({ trace }) => trace?.trace_id ?? null],
  ['node', ({ node }) => node],
]

export function csvHead(): string {
  return csvLine(columns.map(([name]) => name))
}

export function csvRecord(record: RequestRecord): string {
  return csvLine(columns.map(([, read]) => read(record)))
}
