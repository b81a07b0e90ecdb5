import type pg from 'pg'
import type { ProjectName, RecordFilter, StoreTables } from '../../store/api.ts'

type Records = StoreTables['records']
type Method = Exclude<keyof Records, 'reprice'>

/** A reading of records, as the main thread requests it. */
export type RecordReading = { [Name in Method]: { method: Name; input: Parameters<Records[Name]> } }[Method]

export type AskPostgres = <Row extends pg.QueryResultRow>(text: string, values: unknown[]) => Promise<Row[]>

/** A filter for PostgreSQL, with the present and past names of its projects, which each node knows. */
export interface ReadingFilter extends Omit<RecordFilter, 'projects'> {
  /** Only these projects; left out: all. */
  names?: Pick<ProjectName, 'name' | 'since' | 'until'>[]
}
