/** What is shown of a request in a row. */
export const requestColumns = [
  { field: 'time', title: 'TIME', format: 'age' },
  { field: 'status', title: 'STATUS', format: 'state', otherwise: 'state', also: { field: 'error.code', join: ' ' } },
  { field: 'model', title: 'MODEL' },
  { field: 'provider', title: 'PROVIDER', minor: true },
  { field: 'key.name', title: 'KEY', minor: true },
  { field: 'first_byte_ms', title: 'FIRST BYTE', format: 'duration', minor: true },
  { field: 'duration_ms', title: 'TOTAL', format: 'duration' },
  { field: 'tokens.input', title: 'IN', format: 'number' },
  { field: 'tokens.output', title: 'OUT', format: 'number' },
  { field: 'cost.usd', title: 'COST', format: 'money' },
  // Of a cluster whose nodes share their records.
  { field: 'node', title: 'NODE', optional: true },
  { field: 'lane', title: 'LANE' },
  { field: 'operation', title: 'OPERATION' },
  { field: 'client.user_agent', title: 'CLIENT', otherwise: 'client.address' },
  { field: 'id', title: 'ID', format: 'id' },
] as const
