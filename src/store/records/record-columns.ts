type Figure = number | null

export const tokenColumns = ['input', 'output', 'cache_read', 'cache_write', 'reasoning'] as const

/** What sums and statistics are made of. */
export const countedColumns = [
  ...(['time', 'state', 'label', 'status', 'error_code'] as const),
  ...tokenColumns,
  ...(['usd', 'duration_ms', 'first_byte_ms'] as const),
] as const

/** A row of records in the order of `storedColumns`: as an array, which is made faster than an object. */
export type StoredRecord = [
  ...[id: string, boot: string, state: string, time: string, label: number, status: Figure, errorCode: string | null],
  ...[input: Figure, output: Figure, cacheRead: Figure, cacheWrite: Figure, reasoning: Figure, usd: Figure],
  ...[durationMs: Figure, record: string, firstByteMs: Figure, attempts: string | null],
]

export const storedColumns = [
  ...(['id', 'boot', 'state', 'time', 'label', 'status', 'error_code'] as const),
  ...tokenColumns,
  ...(['usd', 'duration_ms', 'record_json', 'first_byte_ms', 'attempts_json'] as const),
] as const

export const insertRecord = `insert into records (${storedColumns.join(', ')})
  values (${storedColumns.map(() => '?').join(', ')})`

export const replaceRecord = `on conflict (id) do update set ${storedColumns
  .filter((column) => column !== 'id' && column !== 'boot')
  .map((column) => `${column} = excluded.${column}`)
  .join(', ')}`
