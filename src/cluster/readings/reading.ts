import type pg from 'pg'
import type { ProjectName, RecordFilter, StoreTables } from '../../store/api.ts'

type Records = StoreTables['records']
type Method = Exclude<keyof Records, 'reprice'>

/** A reading of records, as the main thread was asked for it. */
export type RecordReading = { [Name in Method]: { method: Name; input: Parameters<Records[Name]> } }[Method]

export type AskPostgres = <Row extends pg.QueryResultRow>(text: string, values: unknown[]) => Promise<Row[]>

/** A filter as PostgreSQL is asked it: with the names that its projects have or had, which each node knows. */
export interface ReadingFilter extends Omit<RecordFilter, 'projects'> {
  /** Of these projects only; left out: of all. */
  names?: Pick<ProjectName, 'name' | 'since' | 'until'>[]
}
