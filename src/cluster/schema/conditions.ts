import type { SchemaPart } from './parts.ts'

/** How each node is, by its own report some seconds ago, for the other nodes to show. */
export const conditionsPart: SchemaPart = {
  name: 'conditions',
  steps: [
    `
create table spgw.conditions (
  member text primary key, time timestamptz not null default now(), condition text not null);
`,
  ],
}
