import type { SchemaPart } from './parts.ts'

/** How each node is, in its own words, some seconds old: what the others show of it. */
export const conditionsPart: SchemaPart = {
  name: 'conditions',
  steps: [
    `
create table spgw.conditions (
  member text primary key, time timestamptz not null default now(), condition text not null);
`,
  ],
}
