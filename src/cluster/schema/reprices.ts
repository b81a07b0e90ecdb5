import type { SchemaPart } from './parts.ts'

/** New costs of records that stand in PostgreSQL, and which a member has still to put on those in its own database. */
export const repricesPart: SchemaPart = {
  name: 'reprices',
  steps: [
    `
create table spgw.reprices (
  number bigint generated always as identity primary key, member text not null, costs jsonb not null);
create index reprices_member on spgw.reprices (member, number);
`,
  ],
}
