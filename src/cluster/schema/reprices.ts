import type { SchemaPart } from './parts.ts'

/** New costs of records in PostgreSQL, which a member still has to apply in its own database. */
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
