import type { ReactNode } from 'react'

export interface TableColumn<Row> {
  id: string
  title: string
  /** The same where there is little room. */
  narrowTitle?: string
  cell(row: Row): ReactNode
  /** Numbers stand at the end, with figures of one width. */
  number?: boolean
  /** A CSS length. Columns without one share what is left. */
  width?: string
  narrowWidth?: string
  /** Not shown until somebody chooses it. */
  optional?: boolean
  /** Left out where there is little room (under 700 px). */
  wideOnly?: boolean
}
