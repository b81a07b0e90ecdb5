import type { SchemaPart } from './parts.ts'

/** What an alert reports, and which member sends it. */
export const alertReportsPart: SchemaPart = {
  name: 'alert-reports',
  steps: [
    `
create table spgw.alert_reports (
  alert text not null, crossing text not null, member text not null, time timestamptz not null default now(),
  primary key (alert, crossing));
`,
  ],
}
